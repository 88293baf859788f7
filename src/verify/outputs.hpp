#pragma once

#include "verify/symbolic_run.hpp"

namespace tutti {

/// Finds output chunks that do not hold what the contract demands, and ranks that end with the same
/// sum added in different orders. Returns whether each output is one fold of all ranks'
/// contributions, from rank 0 up.
[[nodiscard]] bool check_outputs(const SymbolicRun& run, Findings& findings);

}  // namespace tutti
