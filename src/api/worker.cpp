#include "api/worker.hpp"

#include <algorithm>

#include "core/thread_start.hpp"

namespace tutti {

void Worker::finish() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::queue(std::shared_ptr<Item> item) {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = start_thread([this] { work(); });
    if (waiting_ == items_.size()) {
      std::rotate(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_),
                  items_.end());
      first_ = 0;
      items_.resize(std::max<std::size_t>(8, 2 * items_.size()));
    }
    items_[(first_ + waiting_) % items_.size()] = std::move(item);
    ++waiting_;
    pending_.fetch_add(1, std::memory_order_relaxed);
  }
  changed_.notify_one();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || waiting_ > 0; });
    if (waiting_ == 0) return;
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
    // First the job goes, with all that it holds, and then the caller hears of it.
    item->job.forget();
    pending_.fetch_sub(1, std::memory_order_release);
    item->state.finish(failure);
    lock.lock();
  }
}

}  // namespace tutti
