#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "api/work_state.hpp"

namespace tutti {

/// A thread that does calls one after the other, in the order in which they were given to it. It
/// begins with the first one.
class Worker {
 public:
  using Job = std::function<void()>;

  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Does first what was given to it.
  ~Worker();

  [[nodiscard]] Work add(Job job);
  /// Whether everything that was given to it is done.
  [[nodiscard]] bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }

 private:
  struct Item {
    Job job;
    std::shared_ptr<Work::State> state;
  };

  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::atomic<std::size_t> pending_{0};
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tutti
