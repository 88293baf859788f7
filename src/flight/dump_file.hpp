#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flight/record.hpp"

namespace tutti {

/// What one rank left behind: a dump, read back.
struct FlightDump {
  std::string origin{};  ///< The name of the file.
  std::string version{};
  std::uint64_t communicator = 0;
  std::string name{};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string host{};
  std::uint64_t pid = 0;
  /// The moment of the dump by both clocks, by which ranks' times are lined up.
  std::uint64_t wall_ns = 0;
  std::uint64_t steady_ns = 0;
  std::string reason{};
  std::string failure{};
  std::vector<FlightRecord> records{};  ///< Oldest first.
  std::vector<std::string> faults{};    ///< Which lines could not be read, and why.
  /// What the records' algorithms point to.
  std::unique_ptr<std::set<std::string>> algorithms{};
};

/// Reads a dump. Lines that are cut off or garbled are left out and named among the faults; if that
/// is the first line, there is nothing to go by: throws invalid_argument.
[[nodiscard]] FlightDump parse_dump(std::string_view text, const std::string& origin);

}  // namespace tutti
