#pragma once

#include "cli/bench/comparison.hpp"
#include "versus/report.hpp"

namespace tutti::cli {

/// Measures tutti and the other libraries in turns and prints the table as it grows. Each program
/// is started once and sleeps between its turns, so that disturbances hit all of them alike. A
/// program that fails is reported, and the others go on.
///
/// Throws invalid_argument for an unknown library, and unsupported if the other libraries cannot do
/// the plan or none of them is left.
[[nodiscard]] VersusReport run_versus(const Comparison& comparison);

}  // namespace tutti::cli
