#include "api/call/worker.hpp"

#include <algorithm>

namespace tutti {

void Worker::finish() { queue_->wait_until_idle(); }

void Worker::Queue::add(std::shared_ptr<Item> item) {
  const std::lock_guard lock(mutex_);
  if (waiting_ == items_.size()) {
    std::rotate(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_), items_.end());
    first_ = 0;
    items_.resize(std::max<std::size_t>(8, 2 * items_.size()));
  }
  if (!is_running_) {
    WorkerPool::own().run(shared_from_this());
    is_running_ = true;
  }
  items_[(first_ + waiting_) % items_.size()] = std::move(item);
  ++waiting_;
  pending_.fetch_add(1, std::memory_order_relaxed);
}

void Worker::Queue::run() {
  std::unique_lock lock(mutex_);
  while (waiting_ > 0) {
    const std::shared_ptr<Item> item = std::move(items_[first_]);
    first_ = (first_ + 1) % items_.size();
    --waiting_;
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
    item->state.finish(failure);
    lock.lock();
  }
  is_running_ = false;
  drained_.notify_all();
}

void Worker::Queue::wait_until_idle() {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [this] { return !is_running_; });
}

}  // namespace tutti
