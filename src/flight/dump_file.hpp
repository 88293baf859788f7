#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flight/record.hpp"

namespace tutti {

/// The dump of one rank, read from a file.
struct FlightDump {
  std::string origin{};  ///< The name of the file.
  std::string version{};
  std::uint64_t communicator = 0;
  std::string name{};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string host{};
  std::uint64_t pid = 0;
  /// The time of the dump by both clocks, to align the times of different ranks.
  std::uint64_t wall_ns = 0;
  std::uint64_t steady_ns = 0;
  std::string reason{};
  std::string failure{};
  std::vector<FlightRecord> records{};  ///< Oldest first.
  std::vector<std::string> faults{};    ///< The lines that could not be read, and why.
  /// Storage for FlightCall::algorithm of the records.
  std::unique_ptr<std::set<std::string>> algorithms{};
};

/// Parses a dump. Lines that are cut off or garbled are skipped and listed in `faults`. Throws
/// invalid_argument if the first line cannot be read.
[[nodiscard]] FlightDump parse_dump(std::string_view text, const std::string& origin);

}  // namespace tutti
