#pragma once

#include "verify/symbolic_run.hpp"

namespace tutti {

/// Finds output chunks that do not hold what the contract demands, and ranks that end with the same
/// sum added in different orders.
void check_outputs(const SymbolicRun& run, Findings& findings);

}  // namespace tutti
