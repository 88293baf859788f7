#pragma once

#include <string>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Reads a schedule in JSON (docs/schedule-json.md) or, if the text begins with '<', in MSCCL's XML
/// (docs/msccl.md). Throws as schedule_from_json() and schedule_from_msccl() do.
[[nodiscard]] TUTTI_API Schedule schedule_from_text(std::string_view text);

/// Reads a schedule from a file in either format. Throws invalid_argument that names
/// the file and, for a parse error, the place in it. The schedule may be incorrect, as with
/// schedule_from_json(): check it with verify() or prove().
[[nodiscard]] TUTTI_API Schedule load_schedule(const std::string& path);

}  // namespace tutti
