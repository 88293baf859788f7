#pragma once

#include <atomic>

namespace tutti {

/// An asymmetric full fence between a frequent and a rare thread: the rare thread pays for both. If
/// each thread stores, fences and then loads, at least one of them sees the store of the other.
///
/// A full fence waits until all earlier stores have reached other cores. That costs some percent of
/// a small call that has just written to its peers. membarrier(2) interrupts the other threads
/// instead. Without membarrier, both sides use full fences.
class AsymmetricFence {
 public:
  /// For the frequent thread.
  static void light() {
    if (has_heavy) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  /// For the rare thread.
  static void heavy();

 private:
  static const bool has_heavy;
};

}  // namespace tutti
