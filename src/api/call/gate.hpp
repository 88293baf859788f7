#pragma once

#include <atomic>

#include "api/call/asymmetric_fence.hpp"

namespace tutti {

/// What a rank goes through to be in a call, where it may read what others lend it, and what is
/// closed for good when there is a verdict. One thread at a time goes through; any may close it.
///
/// Whoever closes it and whoever goes through see each other: after close() either nobody is inside
/// and nobody will be, or the one who is inside learns of it when it leaves.
class Gate {
 public:
  /// Whether it was open. If not, nobody is inside.
  [[nodiscard]] bool enter() {
    is_inside_.store(true, std::memory_order_relaxed);
    AsymmetricFence::light();
    if (looks_open()) return true;
    is_inside_.store(false, std::memory_order_release);
    return false;
  }
  /// Whether it is still open.
  bool leave() {
    is_inside_.store(false, std::memory_order_release);
    AsymmetricFence::light();
    return looks_open();
  }
  /// Whether nobody is inside.
  bool close() {
    is_closed_.store(true, std::memory_order_release);
    AsymmetricFence::heavy();
    return !is_inside_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }

 private:
  /// Relaxed, since on Arm an acquiring load waits for the releasing store before it, which would
  /// be the very fence that is saved here.
  [[nodiscard]] bool looks_open() const {
    if (!is_closed_.load(std::memory_order_relaxed)) return true;
    std::atomic_thread_fence(std::memory_order_acquire);
    return false;
  }

  std::atomic<bool> is_inside_{false};
  std::atomic<bool> is_closed_{false};
};

}  // namespace tutti
