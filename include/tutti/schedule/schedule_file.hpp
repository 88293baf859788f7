#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Reads a schedule from a JSON file (docs/schedule-json.md). Throws invalid_argument that names
/// the file and, for a parse error, the place in it. The schedule may be incorrect, as with
/// schedule_from_json(): check it with verify() or prove().
[[nodiscard]] TUTTI_API Schedule load_schedule(const std::string& path);

}  // namespace tutti
