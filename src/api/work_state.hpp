#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

#include <tutti/work.hpp>

namespace tutti {

/// What a Work and the thread that does it share.
class Work::State {
 public:
  void finish(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
      done_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
  }

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done(); });
    rethrow();
  }

  [[nodiscard]] bool wait_for(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, time, [this] { return done(); })) return false;
    rethrow();
    return true;
  }

 private:
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
};

}  // namespace tutti
