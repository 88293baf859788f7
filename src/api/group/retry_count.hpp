#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

/// How many calls with retry a rank has done on a communicator. The rank adds to it, and another
/// thread may seal it at any moment: either that thread sees what was added, or it can no longer be
/// added.
class RetryCount {
 public:
  explicit RetryCount(std::uint64_t value) : word_(value << 1) {}

  [[nodiscard]] std::uint64_t value() const { return word_.load(std::memory_order_acquire) >> 1; }
  /// Whether it could still be changed.
  [[nodiscard]] bool advance(std::uint64_t to) {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & sealed) == 0) {
      if (word_.compare_exchange_weak(word, to << 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  /// Returns what it is, for good, unless set() changes it.
  std::uint64_t seal() { return word_.fetch_or(sealed, std::memory_order_acq_rel) >> 1; }
  /// What the others have agreed on, or the caller knows better.
  void set(std::uint64_t value) {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(word, value << 1 | (word & sealed),
                                        std::memory_order_acq_rel)) {
    }
  }

 private:
  static constexpr std::uint64_t sealed = 1;
  std::atomic<std::uint64_t> word_;
};

}  // namespace tutti
