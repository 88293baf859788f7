#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

/// The number of calls with retry that a rank has completed on a communicator. The rank advances
/// it, and another thread may seal it at any time. Either the sealing thread sees the advance, or
/// the advance fails.
class RetryCount {
 public:
  explicit RetryCount(std::uint64_t value) : word_(value << 1) {}

  [[nodiscard]] std::uint64_t value() const { return word_.load(std::memory_order_acquire) >> 1; }
  /// False if the count is sealed.
  [[nodiscard]] bool advance(std::uint64_t to) {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & sealed) == 0) {
      if (word_.compare_exchange_weak(word, to << 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  /// Returns the count, which advance() can no longer change.
  std::uint64_t seal() { return word_.fetch_or(sealed, std::memory_order_acq_rel) >> 1; }
  /// Sets the count that the ranks agreed on or that the caller gave, also if it is sealed.
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
