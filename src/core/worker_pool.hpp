#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/process_origin.hpp"

namespace tutti {

/// A task for a thread of the pool.
class PoolTask {
 public:
  virtual ~PoolTask() = default;
  /// Must not throw.
  virtual void run() = 0;
};

/// A pool of threads for tasks that may take long. A task never waits for another: there are as
/// many threads as tasks at a time. Idle threads end after a while. Thread-safe.
class WorkerPool {
 public:
  /// The pool of this process, never destroyed. A child after fork() has its own pool.
  [[nodiscard]] static WorkerPool& own();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Throws unsupported if the system refuses to start a thread.
  void run(std::shared_ptr<PoolTask> task);
  /// Never throws. If no thread can be started now, one that becomes free takes the task.
  void run_when_possible(std::shared_ptr<PoolTask> task);

  /// The current number of threads.
  [[nodiscard]] std::size_t threads();

 private:
  WorkerPool() = default;
  void serve_added(std::unique_lock<std::mutex>& lock);
  void serve();

  ProcessOrigin origin_{};
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::shared_ptr<PoolTask>> tasks_;  // Not yet taken by a thread.
  std::size_t idle_ = 0;
  std::size_t threads_ = 0;
};

}  // namespace tutti
