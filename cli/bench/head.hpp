#pragma once

#include <string>
#include <vector>

#include "cli/bench/plan.hpp"
#include "cli/measure/machine.hpp"
#include "cli/measure/place.hpp"

/// The lines above the table of `tutti bench`, as nccl-tests prints them.
namespace tutti::cli {

/// What is measured and how. `transport` says how the ranks reach each other. Where the number of
/// calls depends on the time it is printed as 0, since programs that read the line expect a number.
[[nodiscard]] std::string bench_head(const BenchPlan& plan, const std::string& transport);

/// One line for each rank. nccl-tests names a GPU there; these ranks run on cores.
[[nodiscard]] std::string places_text(const std::vector<measure::Place>& places);

/// The limits of the machine.
[[nodiscard]] std::string machine_text(const measure::Machine& machine);

}  // namespace tutti::cli
