#pragma once

#include <string>

#include "cli/measure/report.hpp"
#include "cli/versus/report.hpp"

/// `tutti bench --plot`: time and bus bandwidth out of place over size, with the machine's limit,
/// as SVG.
namespace tutti::cli {

/// One line for each requested algorithm.
[[nodiscard]] std::string plot_of(const measure::Report& report);
/// One line for tutti and one for the fastest setting of each library.
[[nodiscard]] std::string plot_of(const VersusReport& report);

}  // namespace tutti::cli
