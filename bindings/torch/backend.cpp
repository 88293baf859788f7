#include "backend.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <set>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/version.h>

#include "failure.hpp"
#include "interpreter.hpp"

namespace tutti_torch {
namespace {

/// The backends of this process.
struct Alive {
  std::mutex mutex;
  std::set<Backend*> backends;
};

/// Never destroyed: a backend may end while the process exits. A forked child begins with none: the
/// groups belong to its parent, and a thread of that may hold the lock.
Alive& alive() {
  static std::atomic<Alive*> all{new Alive};
  [[maybe_unused]] static const int renewed =
      pthread_atfork(nullptr, nullptr, [] { all.store(new Alive); });
  return *all.load();
}

/// Whether torch accepts that a call it would wait for returns no work. Its functions check for it
/// since their options tell whether they wait.
bool accepts_no_work() {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8)
  return !c10d::allow_inflight_collective_as_graph_input();
#else
  return false;
#endif
}

}  // namespace

Backend::Backend(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                 const c10::intrusive_ptr<Options>& options)
    : c10d::Backend(rank, size),
      store_(std::move(store)),
      options_(options->copy(true)),
      timeout_ms_(options_->timeout.count()) {
#ifdef C10D_BACKEND_HAS_RECONFIGURE
  if (options_->enable_reconfigure) {
    begin();
    return;
  }
#endif
  communicator_ = Communicator::from_store(store_, rank, size, timeout_of(c10d::kUnsetTimeout),
                                           options_->choice);
  begin();
}

Backend::Backend(std::shared_ptr<Communicator> communicator, c10::intrusive_ptr<c10d::Store> store,
                 const c10::intrusive_ptr<Options>& options)
    : c10d::Backend(communicator->rank(), communicator->size()),
      store_(std::move(store)),
      options_(options->copy(true)),
      timeout_ms_(options_->timeout.count()),
      communicator_(std::move(communicator)) {
  begin();
}

void Backend::begin() {
  init();
  if (const auto group = communicator_or_none()) {
    group->set_reproducible(options_->choice.reproducible);
  }
  const std::lock_guard lock(alive().mutex);
  alive().backends.insert(this);
}

Backend::~Backend() {
  {
    const std::lock_guard lock(alive().mutex);
    alive().backends.erase(this);
  }
  const WithoutInterpreter unlocked;
  lane_.reset();
  communicator_.reset();
}

void Backend::leave_all() {
  const std::lock_guard lock(alive().mutex);
  // A callback of one group may wait for a call of another.
  for (Backend* const each : alive().backends) each->end_calls();
  for (Backend* const each : alive().backends) each->leave();
}

// Properties ----------------------------------------------------------------------------------

at::Tensor Backend::allocateTensor(long size, at::TensorOptions options) {
  if (options.has_device() && !options.device().is_cpu()) {
    refuse("allocate_tensor",
           "only CPU tensors can be allocated, not on " + options.device().str());
  }
  return shared_tensor(size, options);
}

void Backend::setTimeout(std::chrono::milliseconds timeout) {
  options_->timeout = timeout;
  timeout_ms_ = timeout.count();
}

std::chrono::milliseconds Backend::timeout_of(std::chrono::milliseconds asked) const {
  const int64_t chosen = asked.count() < 0 ? timeout_ms_.load() : asked.count();
  return std::chrono::milliseconds(std::max<int64_t>(chosen, 1));
}

std::shared_ptr<Communicator> Backend::communicator_or_none() const {
  const std::lock_guard lock(communicator_mutex_);
  return communicator_;
}

std::shared_ptr<Communicator> Backend::take_communicator() {
  const std::lock_guard lock(communicator_mutex_);
  return std::exchange(communicator_, nullptr);
}

std::shared_ptr<Communicator> Backend::communicator() const {
  if (auto found = communicator_or_none()) return found;
  fail("call",
       "the process group has no communicator: it was shut down, or reconfigure() was not "
       "called yet");
}

int Backend::root_of(int64_t root, const char* call) const {
  if (root >= 0 && root < size_) return static_cast<int>(root);
  refuse(call, "the root is " + std::to_string(root) + " of " + std::to_string(size_) + " ranks");
}

// Starting ------------------------------------------------------------------------------------

bool Backend::needs_work(const Launch& launch) const {
  if (!accepts_no_work() || launch.is_async) return true;
  return is_coalescing() || onCompletionHook_ || is_profiled();
}

bool Backend::run_now(const Launch& launch, c10::function_ref<void(tuttiComm_t)> body) {
  const Tensors& memory = launch.memory.empty() ? launch.result : launch.memory;
  await_devices(memory);
  const StorageLock locked(memory);
  const std::shared_ptr<Communicator> group = communicator();
  return lane_->try_run([&] {
    ++sequence_;
    const at::NoGradGuard no_grad;
    body(group->handle());
  });
}

Backend::WorkPointer Backend::start_work(Launch launch, std::function<void(tuttiComm_t)> body) {
  const Tensors& memory = launch.memory.empty() ? launch.result : launch.memory;
  await_devices(memory);
  StorageLock locked(memory);
  if (launch.inputs.empty() && is_profiled()) launch.inputs = launch.result;
  const WorkLabel label{.rank = rank_,
                        .type = launch.type,
                        .title = launch.title,
                        .sequence = ++sequence_,
                        .timeout = launch.timeout};
  CollectiveWork::Observer observer;
  if (onCompletionHook_) observer = onCompletionHook_;
  auto work =
      c10::make_intrusive<CollectiveWork>(label, lane_->state(),
                                          CollectiveWork::Parts{.inputs = std::move(launch.inputs),
                                                                .result = std::move(launch.result),
                                                                .group = communicator(),
                                                                .body = std::move(body),
                                                                .observer = std::move(observer),
                                                                .memory = std::move(locked)});
  if (launch.is_async || is_coalescing()) {
    lane_->add(work);
  } else {
    lane_->run(work);
  }
  return keep_if_coalescing(std::move(work));
}

Backend::WorkPointer Backend::keep_if_coalescing(WorkPointer work) {
  if (is_coalescing()) coalesced_.push_back(work);
  return work;
}

void Backend::startCoalescing() {
  coalescing_ = std::this_thread::get_id();
  coalesced_.clear();
}

Backend::WorkPointer Backend::endCoalescing() {
  coalescing_ = std::thread::id();
  const WorkLabel label{.rank = rank_,
                        .type = c10d::OpType::COALESCED,
                        .title = "tutti:coalesced",
                        .sequence = sequence_};
  return c10::make_intrusive<JointWork>(label, std::exchange(coalesced_, {}));
}

// Observing -----------------------------------------------------------------------------------

void Backend::registerOnCompletionHook(
    std::function<void(std::shared_ptr<c10d::WorkInfo>)>&& hook) {
  onCompletionHook_ = std::move(hook);
}

void Backend::waitForPendingWorks() {
  const auto limit = timeout_of(c10d::kUnsetTimeout);
  if (lane_->wait_until_quiet(limit)) return;
  fail("wait_for_pending_works", "Timed out waiting " + std::to_string(limit.count()) + "ms");
}

}  // namespace tutti_torch
