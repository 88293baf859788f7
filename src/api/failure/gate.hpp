#pragma once

#include <atomic>

#include "api/failure/asymmetric_fence.hpp"

namespace tutti {

/// Separates calls from the verdict. A rank is inside the gate during a call, in which it may read
/// the memory of other ranks. A verdict closes the gate for good. One thread at a time may enter;
/// any thread may close.
///
/// The two threads see each other (see AsymmetricFence). After close(), either the gate is empty
/// and stays empty, or the thread inside learns from leave() that the gate was closed.
class Gate {
 public:
  /// True if the gate was open; the caller is then inside.
  [[nodiscard]] bool enter() {
    is_inside_.store(true, std::memory_order_relaxed);
    AsymmetricFence::light();
    if (looks_open()) return true;
    is_inside_.store(false, std::memory_order_release);
    return false;
  }
  /// True if the gate is still open.
  bool leave() {
    is_inside_.store(false, std::memory_order_release);
    AsymmetricFence::light();
    return looks_open();
  }
  /// True if the gate is empty.
  bool close() {
    is_closed_.store(true, std::memory_order_release);
    AsymmetricFence::heavy();
    return !is_inside_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }

 private:
  /// Relaxed: on Arm an acquire load waits for an earlier release store, which would be the full
  /// fence that AsymmetricFence avoids.
  [[nodiscard]] bool looks_open() const {
    if (!is_closed_.load(std::memory_order_relaxed)) return true;
    std::atomic_thread_fence(std::memory_order_acquire);
    return false;
  }

  std::atomic<bool> is_inside_{false};
  std::atomic<bool> is_closed_{false};
};

}  // namespace tutti
