#pragma once

#include <string_view>

#include "flight/recorder.hpp"

namespace tutti {

/// Writes all that a recorder holds to a file of JSON lines: first who and why, then a record a
/// line, oldest first, and then those of the messages. docs/failure.md describes it; parse_dump()
/// reads it back.
///
/// The file is there whole or not at all: it is written under another name, which is `path` with
/// `suffix`, and then takes the place of what was there. Returns zero, or the errno of what went
/// wrong. Takes no memory and no lock, so that a signal handler may call it.
[[nodiscard]] int write_dump(const FlightRecorder& recorder, const FlightRecorder& messages,
                             std::string_view reason, const char* path,
                             std::string_view suffix = ".part");

}  // namespace tutti
