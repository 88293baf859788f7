#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

/// The processor's own counter of time, for who cannot afford a clock: bench/flight measures both.
/// It runs at one rate, and alike on all cores, on AArch64 and on every x86-64 since 2008.
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

/// A moment, as the counter and as the steady clock have it.
struct TickMoment {
  std::uint64_t ticks = 0;
  std::uint64_t steady_ns = 0;

  /// May be called in a signal handler.
  [[nodiscard]] static TickMoment now();
};

/// Turns ticks between two moments into nanoseconds of the steady clock.
///
/// The rate follows from the moments themselves: nothing need be known of the processor or waited
/// for, and what the steady clock is corrected by on its way is spread evenly.
class TickScale {
 public:
  TickScale(const TickMoment& earlier, const TickMoment& later);

  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const;

 private:
  TickMoment later_;
  double ns_per_tick_;
};

}  // namespace tutti
