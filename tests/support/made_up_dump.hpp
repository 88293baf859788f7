#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flight/record.hpp"

namespace tutti::test {

/// A call as a dump may tell of it. Times are seconds since the job began.
struct MadeUpCall {
  std::uint64_t number = 1;
  double begun = 0;
  std::optional<double> ended{};  ///< None while it runs.
  std::uint64_t count = 1024;     ///< Of an allreduce, and part of what ranks must agree on.
  std::string site{};
  bool has_failed = false;
  std::optional<FlightRecord::Wait> wait{};
};

/// A dump of a rank that nobody was, with clocks that stand still.
struct MadeUpDump {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 4;
  double at = 20;  ///< When it was made.
  std::string reason = "error";
  std::string failure{};
  std::vector<MadeUpCall> calls{};
  std::string host = "node1";
  std::uint64_t communicator = 0xC0FFEE;
  std::string name = "world";

  /// As it stands in a file. Ranks' steady clocks differ by an hour each, as hosts' do.
  [[nodiscard]] std::string text() const;
};

}  // namespace tutti::test
