#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/machine.hpp"
#include "cli/measure/place.hpp"
#include "cli/measure/row.hpp"

namespace tutti::measure {

/// The results of a whole run.
struct Report {
  Collective collective = Collective::allreduce;
  std::string transport{};  ///< "4 ranks, shared memory": see Communicator::description().
  std::uint32_t ranks = 1;
  bool shared_buffers = true;
  bool prepared_calls = false;
  std::vector<Place> places{};  ///< By rank.
  std::optional<Machine> machine{};
  std::vector<Row> rows{};

  /// The wrong elements of all rows.
  [[nodiscard]] std::uint64_t wrong() const;
  /// In bytes per second, over all rows, in place and out of place.
  [[nodiscard]] double average_bus_bandwidth() const;

  [[nodiscard]] std::string json() const;
  /// One line for each row out of place and one in place.
  [[nodiscard]] std::string csv() const;
};

}  // namespace tutti::measure
