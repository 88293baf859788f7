#pragma once

#include <tutti/communicator.hpp>

#include "cli/bench/plan.hpp"
#include "cli/measure/report.hpp"

namespace tutti::cli {

/// Measures the plan as one rank of the communicator: see measure::bench(). Rank 0 prints each row
/// of the table as soon as it is measured.
[[nodiscard]] measure::Report run_bench(Communicator& communicator, const BenchPlan& plan);

}  // namespace tutti::cli
