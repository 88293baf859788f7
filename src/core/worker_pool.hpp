#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/process_origin.hpp"

namespace tutti {

/// Something that a thread of the pool is to do.
class PoolTask {
 public:
  virtual ~PoolTask() = default;
  /// Must not throw.
  virtual void run() = 0;
};

/// Threads that this process lends to whoever has something to do that may take long. A task never
/// waits for another: there are as many threads as tasks at a time, and those that have had nothing
/// to do for a while end. Thread-safe.
class WorkerPool {
 public:
  /// The pool of this process, never torn down; a child after fork() has one of its own.
  [[nodiscard]] static WorkerPool& own();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Throws unsupported if the system has no thread for it.
  void run(std::shared_ptr<PoolTask> task);

  /// How many threads there are now.
  [[nodiscard]] std::size_t threads();

 private:
  WorkerPool() = default;
  void add_thread();
  void serve();

  ProcessOrigin origin_{};
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::shared_ptr<PoolTask>> tasks_;  // Those that no thread has taken.
  std::size_t idle_ = 0;
  std::size_t threads_ = 0;
};

}  // namespace tutti
