#include "flight/ticks.hpp"

namespace tutti {

TickMoment TickMoment::now() {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  return {.ticks = tutti::ticks(),
          .steady_ns = static_cast<std::uint64_t>(
              std::chrono::duration_cast<std::chrono::nanoseconds>(steady).count())};
}

TickScale::TickScale(const TickMoment& earlier, const TickMoment& later)
    : later_(later),
      ns_per_tick_(later.ticks > earlier.ticks
                       ? static_cast<double>(later.steady_ns - earlier.steady_ns) /
                             static_cast<double>(later.ticks - earlier.ticks)
                       : 0) {}

std::uint64_t TickScale::nanoseconds(std::uint64_t ticks) const {
  // Times after the later moment are clamped to it.
  if (ticks >= later_.ticks) return later_.steady_ns;
  const double ago = ns_per_tick_ * static_cast<double>(later_.ticks - ticks);
  return later_.steady_ns - static_cast<std::uint64_t>(ago);
}

}  // namespace tutti
