#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <c10/util/FunctionRef.h>
#include <c10/util/intrusive_ptr.h>

namespace tutti_torch {

class CollectiveWork;

/// Runs the collectives of one group, one at a time, in the order of the calls.
///
/// They run in a thread of the lane, which starts with the first asynchronous call, or in a thread
/// that waits for one of them: then no thread has to be woken.
///
/// Callbacks of works run in threads of the lane only, and may wait for anything: a thread that
/// enters a callback first makes sure that another one is there for what comes next. So there are
/// as many threads as callbacks that wait at the same time, and one more.
class Lane {
 public:
  Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  /// Waits until all works are done, unless this is a thread of the lane.
  ~Lane();

  /// Queues the work and returns.
  void add(c10::intrusive_ptr<CollectiveWork> work);
  /// Queues the work and returns when it is done.
  void run(const c10::intrusive_ptr<CollectiveWork>& work);
  /// Runs the body in this thread, if no work is queued or running. False: it was not run.
  bool try_run(c10::function_ref<void()> body);

  /// Returns when no work is queued or running, or when the time is over. True if it is idle.
  bool wait_until_idle(std::chrono::milliseconds timeout);
  [[nodiscard]] bool is_idle() const;
  /// The same, and no callback is queued or running, but for those that this thread is in.
  bool wait_until_quiet(std::chrono::milliseconds timeout);

  /// What works share with the lane: a work may outlive it.
  class State;
  [[nodiscard]] const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Waits until the work is done, and runs works of the lane meanwhile. False if the time is over;
/// zero: no limit.
[[nodiscard]] bool wait_for(const std::shared_ptr<Lane::State>& lane, const CollectiveWork& work,
                            std::chrono::milliseconds timeout);

/// Calls the callback in a thread of the lane, also when the lane itself has ended. It must not
/// throw.
void call_soon(const std::shared_ptr<Lane::State>& lane, std::function<void()> callback);

}  // namespace tutti_torch
