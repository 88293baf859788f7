#pragma once

#include <cstddef>
#include <string>

#include "flight/recorder.hpp"

namespace tutti {

/// The number of records, and where they are dumped.
struct FlightSettings {
  std::size_t records = FlightRecorder::usual_records;
  /// The directory for dumps; empty for no dumps.
  std::string directory{};
};

/// Reads TUTTI_FLIGHT and TUTTI_FLIGHT_RECORDS. Creates the directory if it does not exist. Throws
/// invalid_argument that names the variable and its valid values.
[[nodiscard]] FlightSettings flight_settings_from_environment();

}  // namespace tutti
