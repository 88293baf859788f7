#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

/// The processor's time stamp counter, cheaper than a clock: bench/flight measures both. Its rate
/// is constant and the same on all cores, on AArch64 and on every x86-64 since 2008.
[[nodiscard]] inline std::uint64_t ticks() {
#if defined(__aarch64__)
  std::uint64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#elif defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// A point in time, by the counter and by the steady clock.
struct TickMoment {
  std::uint64_t ticks = 0;
  std::uint64_t steady_ns = 0;

  /// Async-signal-safe.
  [[nodiscard]] static TickMoment now();
};

/// Converts ticks between two moments to nanoseconds of the steady clock, by linear interpolation.
///
/// The rate follows from the two moments, so no knowledge of the processor and no calibration is
/// needed. Corrections of the steady clock in between are spread evenly.
class TickScale {
 public:
  TickScale(const TickMoment& earlier, const TickMoment& later);

  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const;

 private:
  TickMoment later_;
  double ns_per_tick_;
};

}  // namespace tutti
