#pragma once

#include <span>
#include <vector>

namespace tutti::measure {

/// The quantile `part` (0 to 1) of sorted numbers, interpolated between neighbours.
/// Requires: at least one number.
[[nodiscard]] double quantile(std::span<const double> sorted, double part);

/// Requires: at least one number.
[[nodiscard]] double median_of(std::vector<double> numbers);

}  // namespace tutti::measure
