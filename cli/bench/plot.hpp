#pragma once

#include <string>
#include <vector>

#include "cli/measure/report.hpp"

/// `tutti bench --plot`: time and bus bandwidth out of place over size, with the machine's limit,
/// as SVG.
namespace tutti::cli {

/// One line for each requested algorithm.
[[nodiscard]] std::string plot_of(const measure::Report& report);

/// A time of a row, on the line with this name.
struct PlottedTime {
  std::string line;
  const measure::Row& row;
  const measure::Timing& timing;
};
/// Any lines, with the report's title.
[[nodiscard]] std::string plot_of(const measure::Report& report,
                                  const std::vector<PlottedTime>& times);

}  // namespace tutti::cli
