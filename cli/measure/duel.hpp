#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tutti::measure {

/// The seconds of two algorithms for one size.
struct Duel {
  std::uint64_t bytes = 0;
  double first = 0;
  double second = 0;
};

/// The size at which one algorithm overtakes the other. Measured times can cross several times by
/// chance, so this is the crossing that leaves the fewest sizes on the wrong side. None if one
/// algorithm is faster for nearly all sizes. Requires: the duels are in order of size.
[[nodiscard]] std::optional<double> crossing(std::span<const Duel> duels);

}  // namespace tutti::measure
