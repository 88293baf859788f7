#pragma once

#include <cstddef>
#include <limits>
#include <optional>

namespace tutti::measure {

/// How often a call is repeated to measure its time.
struct Pace {
  std::optional<std::size_t> warm_ups{};    ///< None: for an eighth of the time.
  std::optional<std::size_t> iterations{};  ///< None: as many as fit into the time.
  double seconds = 0.1;
  double expected = 0;  ///< Estimate of the seconds of one call; 0 if unknown.
  /// A call that takes longer than this, twice in a row, is not repeated. The first call of its
  /// kind also opens connections and makes a plan. Only for time_in_batches().
  double give_up = std::numeric_limits<double>::infinity();
  bool barrier = false;  ///< Before each call, not measured: calls then cannot overlap.
  /// Rewrite the input and then wait for all ranks before each call, not measured: no rank finds
  /// another's input in its own cache.
  bool fresh = false;
};

}  // namespace tutti::measure
