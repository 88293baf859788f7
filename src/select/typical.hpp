#pragma once

#include <vector>

namespace tutti {

/// What to expect of the next time, by those that were measured, at least one: their mean, but for
/// those above twice the median, when somebody else had the machine.
///
/// Not the median: where ranks share cores an algorithm may take half as long in one run as in
/// another, all of it, and then what counts is how often it does.
[[nodiscard]] double typical(std::vector<double> times);

}  // namespace tutti
