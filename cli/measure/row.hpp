#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/measure/case.hpp"
#include "cli/measure/timing.hpp"

namespace tutti::measure {

/// The result of one call, in place or out of place.
struct Finding {
  Timing timing{};
  std::optional<std::uint64_t> wrong{};  ///< Wrong elements on all ranks; none if not checked.
};

/// The result of one case.
struct Row {
  Case what{};
  std::uint64_t bytes = 0;  ///< Of the larger buffer.
  std::uint32_t ranks = 1;
  std::string algorithm{};  ///< The one that was used.
  Finding out_of_place{};
  std::optional<Finding> in_place{};  ///< None for a barrier.
  std::optional<double> limit{};      ///< Lower bound of the machine, in microseconds.
  std::optional<double> limit_in_place{};

  /// The share of the limit in the time out of place; none without a limit. Where calls overlap,
  /// most are short and a few are long. The limit is a bound of their mean then, not of their
  /// median.
  [[nodiscard]] std::optional<double> share_of_limit() const;

  /// Bytes per second as the caller sees them.
  [[nodiscard]] double algorithm_bandwidth(const Finding& finding) const;
  /// Bytes per second as the hardware sees them: see bus_factor().
  [[nodiscard]] double bus_bandwidth(const Finding& finding) const;
};

}  // namespace tutti::measure
