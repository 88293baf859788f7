#pragma once

#include <vector>

namespace tutti::render {

/// Where to put texts that would like to stand at `wanted` heights so that none is nearer than
/// `distance` to the next, all lie in [top, bottom] and they move as little as may be. Where there
/// is not room for all, they overrun the bottom.
[[nodiscard]] std::vector<double> push_apart(const std::vector<double>& wanted, double distance,
                                             double top, double bottom);

/// On which row each of some intervals may lie so that none touches another of its row, rows being
/// filled from 0 on in the order given.
struct Interval {
  double from = 0;
  double to = 0;
};
[[nodiscard]] std::vector<std::size_t> rows_for(const std::vector<Interval>& intervals, double gap);

}  // namespace tutti::render
