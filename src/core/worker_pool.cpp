#include "core/worker_pool.hpp"

#include <atomic>
#include <chrono>

#include <tutti/error.hpp>

#include "core/thread_start.hpp"

namespace tutti {
namespace {

constexpr std::chrono::seconds idle_time{2};

}  // namespace

/// Lock-free: in a forked child a lock might be held by a thread that no longer exists.
WorkerPool& WorkerPool::own() {
  static std::atomic<WorkerPool*> current{nullptr};
  WorkerPool* pool = current.load(std::memory_order_acquire);
  if (pool != nullptr && pool->origin_.is_here()) return *pool;
  auto* const made = new WorkerPool;
  if (current.compare_exchange_strong(pool, made, std::memory_order_acq_rel)) return *made;
  delete made;  // Another thread won the race.
  return *pool;
}

void WorkerPool::run(std::shared_ptr<PoolTask> task) {
  std::unique_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  try {
    serve_added(lock);
  } catch (const Error&) {
    tasks_.pop_back();
    throw;
  }
}

void WorkerPool::run_when_possible(std::shared_ptr<PoolTask> task) {
  std::unique_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  try {
    serve_added(lock);
  } catch (const Error&) {
    // The next thread that has nothing else to do takes it.
  }
}

/// Detached: the thread ends when it has been idle for idle_time, or with the process.
void WorkerPool::serve_added(std::unique_lock<std::mutex>& lock) {
  if (idle_ >= tasks_.size()) {
    lock.unlock();
    added_.notify_one();
    return;
  }
  start_thread([this] { serve(); }).detach();
  ++threads_;
}

std::size_t WorkerPool::threads() {
  const std::lock_guard lock(mutex_);
  return threads_;
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    const bool has_task = added_.wait_for(lock, idle_time, [this] { return !tasks_.empty(); });
    --idle_;
    if (!has_task) break;
    // The oldest task.
    std::shared_ptr<PoolTask> task = std::move(tasks_.front());
    tasks_.erase(tasks_.begin());
    lock.unlock();
    task->run();
    task.reset();
    lock.lock();
  }
  --threads_;
}

}  // namespace tutti
