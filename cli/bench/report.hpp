#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/case.hpp"
#include "cli/bench/machine.hpp"
#include "cli/bench/timing.hpp"

namespace tutti::cli {

/// What was found of one call, in place or out of place.
struct BenchFinding {
  BenchTiming timing{};
  std::optional<std::uint64_t> wrong{};  ///< Elements over all ranks; none if not checked.
};

/// What was found of one case.
struct BenchRow {
  BenchCase what{};
  std::uint64_t bytes = 0;  ///< Of the larger buffer.
  std::uint32_t ranks = 1;
  std::string algorithm{};  ///< The one that was used.
  BenchFinding out_of_place{};
  std::optional<BenchFinding> in_place{};  ///< A barrier has none.
  std::optional<double> limit{};           ///< Microseconds.

  /// Bytes per second as the caller sees them, and as the hardware does: see bus_factor().
  [[nodiscard]] double algorithm_bandwidth(const BenchFinding& finding) const;
  [[nodiscard]] double bus_bandwidth(const BenchFinding& finding) const;
};

/// A whole run.
struct BenchReport {
  Collective collective = Collective::allreduce;
  std::string ways{};  ///< How the ranks reach each other: "4 ranks, shared memory".
  std::uint32_t ranks = 1;
  bool shared_buffers = true;
  std::optional<BenchMachine> machine{};
  std::vector<BenchRow> rows{};

  /// Wrong elements of all rows.
  [[nodiscard]] std::uint64_t wrong() const;
  /// In bytes per second, over rows and both places.
  [[nodiscard]] double average_bus_bandwidth() const;

  [[nodiscard]] std::string json() const;
  /// A line for each row and place.
  [[nodiscard]] std::string csv() const;
};

}  // namespace tutti::cli
