#pragma once

#include <string>

#include "cli/bench/report.hpp"
#include "cli/versus/report.hpp"

/// `tutti bench --plot`: time and bus bandwidth out of place over size, with the machine's limit,
/// as SVG.
namespace tutti::cli {

/// A line for each algorithm that was asked for.
[[nodiscard]] std::string plot_of(const BenchReport& report);
/// A line for tutti and one for the best of each library.
[[nodiscard]] std::string plot_of(const VersusReport& report);

}  // namespace tutti::cli
