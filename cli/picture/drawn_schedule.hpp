#pragma once

#include <string>

#include <tutti/schedule/algorithm.hpp>

#include "render/caption.hpp"

namespace tutti::cli {

/// A schedule to draw, and its caption.
struct DrawnSchedule {
  Schedule schedule;
  render::Caption caption;
};

[[nodiscard]] DrawnSchedule schedule_of(const Algorithm& algorithm, const Problem& problem);

/// Reads JSON; "-" is standard input. Throws invalid_argument that names the file.
[[nodiscard]] DrawnSchedule schedule_in_file(const std::string& path);

}  // namespace tutti::cli
