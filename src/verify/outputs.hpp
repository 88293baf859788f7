#pragma once

#include "verify/symbolic_run.hpp"

namespace tutti {

/// Finds output chunks that do not hold what the contract requires, and ranks that add the same sum
/// in different orders. Returns true if each output is one fold of all contributions, from rank 0
/// up.
[[nodiscard]] bool check_outputs(const SymbolicRun& run, Findings& findings);

}  // namespace tutti
