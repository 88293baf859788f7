#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// The schedule in a JSON file (docs/schedule-json.md). Throws invalid_argument that names the file
/// and, where it is not understood, the place in it. Like what schedule_from_json() reads, it may
/// be nonsense: verify() or prove() tells.
[[nodiscard]] TUTTI_API Schedule load_schedule(const std::string& path);

}  // namespace tutti
