#pragma once

#include <vector>

namespace tutti {

/// The expected next time, given at least one measured time: the mean of all times that are at most
/// twice the median. Longer times are outliers caused by other programs.
///
/// Not the median: if ranks share cores, all calls of one run may take half as long as those of
/// another run, and the frequency of such runs matters.
[[nodiscard]] double typical(std::vector<double> times);

}  // namespace tutti
