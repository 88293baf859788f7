#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flight/record.hpp"

namespace tutti::test {

/// A call in a dump. Times are seconds since the job began.
struct MadeUpCall {
  std::uint64_t number = 1;
  double begun = 0;
  std::optional<double> ended{};  ///< None while it runs.
  std::uint64_t count = 1024;     ///< Of an allreduce; ranks must agree on it.
  std::string site{};
  bool has_failed = false;
  std::optional<FlightRecord::Wait> wait{};
};

/// A synthetic dump of a rank, with fixed clocks.
struct MadeUpDump {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 4;
  double at = 20;  ///< The time of the dump.
  std::string reason = "error";
  std::string failure{};
  std::vector<MadeUpCall> calls{};
  std::string host = "node1";
  std::uint64_t communicator = 0xC0FFEE;
  std::string name = "world";

  /// The text of the file. The steady clocks of ranks differ by an hour each, as those of hosts do.
  [[nodiscard]] std::string text() const;
};

}  // namespace tutti::test
