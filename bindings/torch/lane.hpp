#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <c10/util/FunctionRef.h>
#include <c10/util/intrusive_ptr.h>

namespace tutti_torch {

class CollectiveWork;

/// What calls are made in: the callbacks of a work.
struct Origin;
/// That of calls that this thread makes now. Empty: the program.
[[nodiscard]] std::weak_ptr<Origin> origin_of_calls();

/// Runs the collectives of one group, one at a time, in the order of the calls.
///
/// The calls that the callbacks of a work make come before the next call of the program, and the
/// callbacks of these before the next of them. So the order is the same on all ranks, whenever
/// callbacks run. Callbacks run one after the other. Those that take longer than some seconds
/// without a call no longer hold up others: they may wait for what a later call brings about.
///
/// They run in a thread of the lane, which starts with the first asynchronous call, or in a thread
/// that waits for one of them: then no thread has to be woken.
///
/// Callbacks of works run in threads of the lane only, and may wait for anything: a thread that
/// enters a callback first makes sure that another one is there for what comes next. So there are
/// as many threads as callbacks that wait at the same time, and one more. If the system refuses to
/// start one, its work is done by the threads that make calls, or by tutti's own, whose callbacks
/// must not wait for calls.
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
  /// The same, and no callback is queued or running. In a callback like wait_until_idle(), since
  /// another one may wait for it.
  bool wait_until_quiet(std::chrono::milliseconds timeout);
  /// False in a forked child, which may only destroy the lane.
  [[nodiscard]] bool is_own_process() const;

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
/// throw. Its calls are of the origin, if callbacks of that are still running.
void call_soon(const std::shared_ptr<Lane::State>& lane, std::function<void()> callback,
               const std::weak_ptr<Origin>& origin);

}  // namespace tutti_torch
