#pragma once

#include <cstdint>
#include <cstdio>

#include "cli/bench/request.hpp"
#include "cli/measure/workload.hpp"

namespace tutti::cli {

/// A request for a known number of ranks: all sizes of one algorithm come before the next
/// algorithm.
struct BenchPlan {
  measure::Workload workload{};
  BenchSizes sizes{};
  std::FILE* table = stdout;  ///< Where the table is printed.
};

/// Requires: the request has a collective. Throws invalid_argument or unsupported if it cannot be
/// done with this many ranks.
[[nodiscard]] BenchPlan plan_bench(const BenchRequest& request, std::uint32_t ranks);

}  // namespace tutti::cli
