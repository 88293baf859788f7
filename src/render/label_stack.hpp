#pragma once

#include <vector>

namespace tutti::render {

/// Moves labels from their `wanted` heights so that they are at least `distance` apart and lie in
/// [top, bottom], with the least movement. If there is not enough room, they overrun the bottom.
[[nodiscard]] std::vector<double> push_apart(const std::vector<double>& wanted, double distance,
                                             double top, double bottom);

/// Assigns each interval to the first row, counted from 0, in which it touches no other interval.
struct Interval {
  double from = 0;
  double to = 0;
};
[[nodiscard]] std::vector<std::size_t> rows_for(const std::vector<Interval>& intervals, double gap);

}  // namespace tutti::render
