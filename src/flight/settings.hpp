#pragma once

#include <cstddef>
#include <string>

#include "flight/recorder.hpp"

namespace tutti {

/// How much is recorded, and what becomes of it.
struct FlightSettings {
  std::size_t records = FlightRecorder::usual_records;
  /// Where dumps go; empty for none.
  std::string directory{};
};

/// What the user says by TUTTI_FLIGHT and TUTTI_FLIGHT_RECORDS. Makes the directory if need be.
/// Throws invalid_argument that names the variable and what it may be.
[[nodiscard]] FlightSettings flight_settings_from_environment();

}  // namespace tutti
