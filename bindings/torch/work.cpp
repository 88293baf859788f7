#include "work.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/record_function.h>

#include "failure.hpp"

namespace tutti_torch {
namespace {

std::vector<c10::Device> devices_of(const std::vector<at::Tensor>& tensors) {
  std::vector<c10::Device> devices;
  for (const at::Tensor& each : tensors) {
    if (!each.defined() || each.is_cpu()) continue;
    if (std::find(devices.begin(), devices.end(), each.device()) == devices.end()) {
      devices.push_back(each.device());
    }
  }
  std::sort(devices.begin(), devices.end(),
            [](const c10::Device& a, const c10::Device& b) { return a.index() < b.index(); });
  return devices;
}

/// A time on the clock of torch's WorkInfo, which depends on its version.
auto for_info(std::chrono::steady_clock::time_point time) {
  using Clock = decltype(c10d::WorkInfo::timeStarted)::clock;
  return Clock::now() -
         std::chrono::duration_cast<Clock::duration>(std::chrono::steady_clock::now() - time);
}

}  // namespace

std::string WorkLabel::call() const {
  const std::string text = title == nullptr ? "call" : title;
  const std::size_t colon = text.find(':');
  return colon == std::string::npos ? text : text.substr(colon + 1);
}

bool is_profiled() { return at::hasCallbacks(); }

// LazyFuture ----------------------------------------------------------------------------------

c10::intrusive_ptr<c10::ivalue::Future> LazyFuture::get(const std::vector<at::Tensor>& result) {
  c10::intrusive_ptr<c10::ivalue::Future> future;
  {
    const std::lock_guard lock(mutex_);
    if (future_) return future_;
    future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()),
                                                      devices_of(result));
    future_ = future;
    if (!is_complete_) return future;
  }
  finish(*future, result, failure_);
  return future;
}

bool LazyFuture::complete(const std::exception_ptr& failure) {
  const std::lock_guard lock(mutex_);
  is_complete_ = true;
  failure_ = failure;
  has_to_tell_ = future_.defined();
  return has_to_tell_;
}

void LazyFuture::tell(const std::vector<at::Tensor>& result) {
  if (has_to_tell_) finish(*future_, result, failure_);
}

void LazyFuture::await() {
  c10::intrusive_ptr<c10::ivalue::Future> future;
  {
    const std::lock_guard lock(mutex_);
    future = future_;
  }
  if (future) future->wait();
}

void LazyFuture::finish(c10::ivalue::Future& future, const std::vector<at::Tensor>& result,
                        const std::exception_ptr& failure) {
  if (failure) {
    future.setError(failure);
  } else {
    future.markCompleted(c10::IValue(result));
  }
}

// CollectiveWork ------------------------------------------------------------------------------

CollectiveWork::CollectiveWork(const WorkLabel& label, std::shared_ptr<Lane::State> lane,
                               Parts parts)
    : Work(label.rank, label.type, is_profiled() ? label.title : nullptr,
           std::optional<std::vector<at::Tensor>>(std::move(parts.inputs))),
      label_(label),
      lane_(std::move(lane)),
      result_(std::move(parts.result)),
      group_(std::move(parts.group)),
      body_(std::move(parts.body)),
      observer_(std::move(parts.observer)),
      memory_(std::move(parts.memory)) {}

bool CollectiveWork::wait(std::chrono::milliseconds timeout) {
  if (!is_over() && !wait_for(lane_, *this, timeout)) {
    fail(label_.call(), "Operation timed out! Timed out waiting " +
                            std::to_string(timeout.count()) +
                            "ms; the call goes on, wait for it again");
  }
  future_.await();
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

bool CollectiveWork::perform() noexcept {
  began_ = std::chrono::steady_clock::now();
  std::exception_ptr failure;
  try {
    const at::ThreadLocalStateGuard as_the_caller(state_);
    const at::NoGradGuard no_grad;
    body_(group_->handle());
  } catch (...) {
    failure = std::current_exception();
  }
  body_ = nullptr;
  group_ = nullptr;
  memory_ = {};
  ended_ = std::chrono::steady_clock::now();
  finish(failure);
  return future_.complete(failure) || observer_;
}

void CollectiveWork::announce() noexcept {
  try {
    const at::ThreadLocalStateGuard as_the_caller(state_);
    future_.tell(result_);
    if (observer_) {
      observer_(std::make_shared<c10d::WorkInfo>(label_.type, label_.sequence, for_info(began_),
                                                 for_info(ended_), ended_ - began_));
    }
  } catch (const std::exception& error) {
    TORCH_WARN("tutti: a callback of ", label_.call(), " threw: ", error.what());
  } catch (...) {
    TORCH_WARN("tutti: a callback of ", label_.call(), " threw an unknown exception");
  }
}

float CollectiveWork::getDuration() const {
  if (!is_over()) fail(label_.call(), "the duration is known when the work is done");
  return std::chrono::duration<float, std::milli>(ended_ - began_).count();
}

// JointWork -----------------------------------------------------------------------------------

JointWork::JointWork(const WorkLabel& label, std::vector<c10::intrusive_ptr<c10d::Work>> works)
    : Work(label.rank, label.type), label_(label), works_(std::move(works)) {}

bool JointWork::isCompleted() {
  return std::all_of(works_.begin(), works_.end(),
                     [](const auto& each) { return each->isCompleted(); });
}

bool JointWork::isSuccess() const {
  return std::all_of(works_.begin(), works_.end(),
                     [](const auto& each) { return each->isSuccess(); });
}

std::exception_ptr JointWork::exception() const {
  for (const auto& each : works_) {
    if (std::exception_ptr failure = each->exception()) return failure;
  }
  return nullptr;
}

bool JointWork::wait(std::chrono::milliseconds timeout) {
  for (const auto& each : works_) each->wait(timeout);
  return true;
}

std::vector<at::Tensor> JointWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& each : works_) {
    for (at::Tensor& tensor : each->result()) all.push_back(std::move(tensor));
  }
  return all;
}

c10::intrusive_ptr<c10::ivalue::Future> JointWork::getFuture() {
  c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(
      c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
  for (const auto& each : works_) futures.push_back(each->getFuture());
  auto joint = c10::make_intrusive<c10::ivalue::Future>(
      c10::ListType::create(c10::TensorType::get()), devices_of(result()));
  c10::collectAll(futures)->addCallback(
      [joint, tensors = result(),
       self = c10::intrusive_ptr<JointWork>::reclaim_copy(this)](c10::ivalue::Future& /*all*/) {
        if (const std::exception_ptr failure = self->exception()) {
          joint->setError(failure);
        } else {
          joint->markCompleted(c10::IValue(tensors));
        }
      });
  return joint;
}

}  // namespace tutti_torch
