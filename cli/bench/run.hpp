#pragma once

#include <tutti/communicator.hpp>

#include "cli/bench/plan.hpp"
#include "cli/bench/report.hpp"

namespace tutti::cli {

/// Does the plan as one rank of the communicator, together with the others. Rank 0 prints the table
/// as it grows. All ranks return the same rows; only rank 0's have limits.
[[nodiscard]] BenchReport run_bench(Communicator& communicator, const BenchPlan& plan);

}  // namespace tutti::cli
