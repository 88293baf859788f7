#pragma once

#include <string>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// The schedule as JSON, one step per line. The format is described in docs/schedule-json.md.
[[nodiscard]] TUTTI_API std::string to_json(const Schedule& schedule);

/// The inverse of to_json(): the result equals the schedule that was written. Throws
/// invalid_argument that names the place (line and column, or the path of the value) and the
/// expected value. The schedule is well formed but may be incorrect: check it with verify().
[[nodiscard]] TUTTI_API Schedule schedule_from_json(std::string_view text);

}  // namespace tutti
