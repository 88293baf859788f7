#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/bench/machine.hpp"
#include "cli/bench/plan.hpp"

/// The lines above the table of `tutti bench`, as nccl-tests prints them.
namespace tutti::cli {

/// Where a rank is.
struct BenchPlace {
  std::array<char, 64> host{};
  int pid = 0;
};

[[nodiscard]] BenchPlace own_place();

/// What is measured and how. `ways` says how the ranks reach each other. Where the number of calls
/// follows from the time, it is 0, because those who read such lines look for a number.
[[nodiscard]] std::string bench_head(const BenchPlan& plan, const std::string& ways);

/// A line for each rank; one that runs on cores has no device but those.
[[nodiscard]] std::string places_text(const std::vector<BenchPlace>& places);

/// What the machine does at best.
[[nodiscard]] std::string machine_text(const BenchMachine& machine);

}  // namespace tutti::cli
