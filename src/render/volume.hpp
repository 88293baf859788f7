#pragma once

#include <string>

#include <tutti/schedule/schedule.hpp>

namespace tutti::render {

/// "no rank sends more than 1.6 times the data (1.6 is the least possible)": the bytes that the
/// busiest rank sends and the lower bound of the collective, both relative to the data of a rank.
/// Figures have as many digits as it takes to tell them apart, and from whole numbers. Empty for a
/// barrier, which has no data.
[[nodiscard]] std::string volume_text(const Schedule& schedule);

}  // namespace tutti::render
