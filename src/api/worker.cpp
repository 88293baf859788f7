#include "api/worker.hpp"

namespace tutti {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Work Worker::add(Job job) {
  auto state = std::make_shared<Work::State>();
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({.job = std::move(job), .state = state});
    pending_.fetch_add(1, std::memory_order_relaxed);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  }
  changed_.notify_one();
  return Work(std::move(state));
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !items_.empty(); });
    if (items_.empty()) return;
    Item item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      item.job();
    } catch (...) {
      failure = std::current_exception();
    }
    // First the job goes, with all that it holds, and then the caller hears of it.
    item.job = nullptr;
    pending_.fetch_sub(1, std::memory_order_release);
    item.state->finish(failure);
    lock.lock();
  }
}

}  // namespace tutti
