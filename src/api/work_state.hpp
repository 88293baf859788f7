#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

#include <tutti/error.hpp>
#include <tutti/work.hpp>

#include "core/process_origin.hpp"

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

  /// A forked child does not see the end of what its parent does: there it is over.
  [[nodiscard]] bool over() const { return done() || !origin_.is_here(); }

  void wait() {
    if (!origin_.is_here()) return settle_in_child();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done(); });
    rethrow();
  }

  [[nodiscard]] bool wait_for(std::chrono::nanoseconds time) {
    if (!origin_.is_here()) {
      settle_in_child();
      return true;
    }
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, time, [this] { return done(); })) return false;
    rethrow();
    return true;
  }

 private:
  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }

  /// Takes no lock: a thread that does not exist here may hold it.
  void settle_in_child() const {
    if (done()) return rethrow();
    throw Error(ErrorCode::aborted,
                "this call goes on in the process that began it: a child that was forked from "
                "that process cannot wait for it");
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  ProcessOrigin origin_{};
};

}  // namespace tutti
