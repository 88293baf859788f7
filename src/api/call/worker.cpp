#include "api/call/worker.hpp"

#include <algorithm>

namespace tutti {

void Worker::finish() { queue_->wait_until_idle(); }

bool Worker::Item::wait_until(std::chrono::steady_clock::time_point until) {
  if (until == std::chrono::steady_clock::time_point::max() && !done())
    queue->run_until_done(*this);
  return Work::State::wait_until(until);
}

void Worker::Queue::add(std::shared_ptr<Item> item) {
  const std::lock_guard lock(mutex_);
  if (waiting_ == items_.size()) {
    std::rotate(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_), items_.end());
    first_ = 0;
    items_.resize(std::max<std::size_t>(8, 2 * items_.size()));
  }
  if (!is_in_pool_ && !is_busy_) call_pool();
  items_[(first_ + waiting_) % items_.size()] = std::move(item);
  ++waiting_;
  pending_.fetch_add(1, std::memory_order_relaxed);
}

/// Throws unsupported if the system refuses to start a thread.
void Worker::Queue::call_pool() {
  WorkerPool::own().run(shared_from_this());
  is_in_pool_ = true;
}

void Worker::Queue::run() {
  std::unique_lock lock(mutex_);
  while (waiting_ > 0 && !is_busy_) run_next(lock);
  is_in_pool_ = false;
  drained_.notify_all();
}

void Worker::Queue::run_until_done(const Item& item) {
  std::unique_lock lock(mutex_);
  while (!item.done() && waiting_ > 0 && !is_busy_) run_next(lock);
  if (waiting_ > 0 && !is_busy_ && !is_in_pool_) {
    // Others may wait for what is left, which came while this thread was busy.
    try {
      call_pool();
    } catch (const Error&) {
      while (waiting_ > 0 && !is_busy_) run_next(lock);
    }
  }
  drained_.notify_all();
}

void Worker::Queue::run_next(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Item> item = std::move(items_[first_]);
  first_ = (first_ + 1) % items_.size();
  --waiting_;
  is_busy_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    item->job();
  } catch (...) {
    failure = std::current_exception();
  }
  // Destroy the job and its captures before the caller learns that the call is done.
  item->job.forget();
  pending_.fetch_sub(1, std::memory_order_release);
  item->finish(failure);
  lock.lock();
  is_busy_ = false;
}

void Worker::Queue::wait_until_idle() {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [this] { return !is_in_pool_ && !is_busy_ && waiting_ == 0; });
}

}  // namespace tutti
