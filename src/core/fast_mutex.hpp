#pragma once

#include <atomic>

namespace tutti {

/// A mutex whose uncontended lock and unlock are one inlined atomic instruction each, for locks on
/// the path of every message. A thread that finds it locked sleeps.
///
/// The states are those of U. Drepper, "Futexes Are Tricky" (2011): free, locked, locked with
/// threads asleep.
class FastMutex {
 public:
  FastMutex() = default;
  FastMutex(const FastMutex&) = delete;
  FastMutex& operator=(const FastMutex&) = delete;

  void lock() noexcept {
    int free = 0;
    if (state_.compare_exchange_strong(free, locked, std::memory_order_acquire)) return;
    while (state_.exchange(contended, std::memory_order_acquire) != 0) {
      state_.wait(contended, std::memory_order_relaxed);
    }
  }
  void unlock() noexcept {
    if (state_.exchange(0, std::memory_order_release) == contended) state_.notify_one();
  }

 private:
  static constexpr int locked = 1;
  static constexpr int contended = 2;

  std::atomic<int> state_{0};
};

}  // namespace tutti
