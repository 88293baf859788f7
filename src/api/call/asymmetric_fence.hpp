#pragma once

#include <atomic>

namespace tutti {

/// A full fence between two threads, one of which comes by all the time and the other hardly ever:
/// the rare one pays for both. With either's store before its fence and its load after it, at least
/// one of them sees what the other has stored.
///
/// A fence of one's own waits until all stores before it have reached other cores, which takes some
/// percent of a small call that has just told its peers something. membarrier(2) interrupts the
/// other threads instead; where there is none, both fence.
class AsymmetricFence {
 public:
  /// Of the one who comes by often.
  static void light() {
    if (has_heavy) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  /// Of the other one.
  static void heavy();

 private:
  static const bool has_heavy;
};

}  // namespace tutti
