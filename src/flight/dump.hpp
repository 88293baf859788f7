#pragma once

#include <string_view>

#include "flight/recorder.hpp"

namespace tutti {

/// Writes both recorders to a file of JSON lines: a header with the rank and the reason, then one
/// record per line, oldest first, and then the messages. docs/failure.md describes the format;
/// parse_dump() reads it.
///
/// Atomic: it writes `path` + `suffix` and then renames it to `path`. Returns 0 or an errno.
/// Async-signal-safe: it neither allocates nor locks.
[[nodiscard]] int write_dump(const FlightRecorder& recorder, const FlightRecorder& messages,
                             std::string_view reason, const char* path,
                             std::string_view suffix = ".part");

}  // namespace tutti
