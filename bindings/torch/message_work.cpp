#include "message_work.hpp"

#include <ATen/core/grad_mode.h>

#include "failure.hpp"

namespace tutti_torch {

MessageWork::MessageWork(const WorkLabel& label, tuttiWork_t work, Parts parts)
    : Work(label.rank, label.type, label.title,
           std::optional<std::vector<at::Tensor>>(std::vector<at::Tensor>{parts.tensor})),
      state_(std::make_shared<State>(label, work, std::move(parts))) {}

MessageWork::~MessageWork() {
  int is_done = 0;
  if (tuttiWorkTest(state_->work, &is_done) == tuttiSuccess && is_done == 0) {
    (void)settle_in_background();
  }
}

void MessageWork::State::check_and_store(tuttiResult_t outcome) {
  require_success(outcome, label.call(), label.timeout);
  if (!parts.receives) return;
  tuttiEnvelope_t envelope{};
  require_success(tuttiWorkEnvelope(work, &envelope), label.call());
  source = envelope.rank;
  const std::size_t expected = parts.host.host().nbytes();
  if (envelope.bytes != expected) {
    fail(label.call(), "rank " + std::to_string(envelope.rank) + " has sent " +
                           std::to_string(envelope.bytes) + " bytes, and the tensor has " +
                           std::to_string(expected) + ": send and receive the same shape and type");
  }
  const at::ThreadLocalStateGuard as_the_caller(caller);
  const at::NoGradGuard no_grad;
  parts.host.store();
}

void MessageWork::State::settle(tuttiResult_t outcome) noexcept {
  const std::lock_guard lock(mutex);
  if (is_settled) return;
  try {
    check_and_store(outcome);
  } catch (...) {
    failure = std::current_exception();
  }
  parts.memory = {};
  parts.communicator.reset();
  is_settled = true;
}

tuttiResult_t MessageWork::settle_in_background() {
  if (has_callback_.exchange(true)) return tuttiSuccess;
  struct Callback {
    static void call(tuttiResult_t result, void* context) {
      const std::unique_ptr<std::shared_ptr<State>> state(
          static_cast<std::shared_ptr<State>*>(context));
      (*state)->settle(result);
      if (!(*state)->future.complete((*state)->failure)) return;
      call_soon((*state)->parts.lane,
                [told = *state] {
                  const at::ThreadLocalStateGuard as_the_caller(told->caller);
                  told->future.tell(told->result());
                },
                (*state)->made_in);
    }
  };
  auto context = std::make_unique<std::shared_ptr<State>>(state_);
  const tuttiResult_t result = tuttiWorkThen(state_->work, &Callback::call, context.get());
  if (result == tuttiSuccess) (void)context.release();
  return result;
}

void MessageWork::end(const std::exception_ptr& failure) {
  {
    const std::lock_guard lock(state_->mutex);
    if (has_ended_) return;
    has_ended_ = true;
  }
  finish(failure);
}

bool MessageWork::isCompleted() {
  int is_done = 0;
  if (tuttiWorkTest(state_->work, &is_done) != tuttiSuccess || is_done == 0) return false;
  state_->settle(tuttiWorkWait(state_->work, -1));
  end(state_->failure);
  return true;
}

bool MessageWork::isSuccess() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_settled && !state_->failure;
}

std::exception_ptr MessageWork::exception() const {
  const std::lock_guard lock(state_->mutex);
  return state_->failure;
}

int MessageWork::sourceRank() const {
  const std::lock_guard lock(state_->mutex);
  return state_->source;
}

bool MessageWork::wait(std::chrono::milliseconds timeout) {
  const int64_t limit = timeout.count() > 0 ? timeout.count() : -1;
  const tuttiResult_t outcome = tuttiWorkWait(state_->work, limit);
  if (outcome == tuttiInProgress) {
    fail(state_->label.call(), "Operation timed out! Timed out waiting " +
                                   std::to_string(timeout.count()) +
                                   "ms; the message is still expected, wait again");
  }
  state_->settle(outcome);
  state_->future.await();
  end(state_->failure);
  if (state_->failure) std::rethrow_exception(state_->failure);
  return true;
}

void MessageWork::abort() {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_settled) return;
  state_->parts.communicator->abort("rank " + std::to_string(state_->label.rank) +
                                    " aborted a message");
}

c10::intrusive_ptr<c10::ivalue::Future> MessageWork::getFuture() {
  require_success(settle_in_background(), state_->label.call());
  return state_->future.get(state_->result());
}

}  // namespace tutti_torch
