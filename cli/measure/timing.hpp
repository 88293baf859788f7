#pragma once

#include <cstddef>
#include <functional>

#include <tutti/communicator.hpp>

#include "cli/measure/pace.hpp"

namespace tutti::measure {

/// The times of a call, in microseconds. An iteration takes as long as on its slowest rank.
struct Timing {
  std::size_t iterations = 0;
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  double mean = 0;  ///< 0 if unknown.

  /// True if the spread is so wide that the median says little.
  [[nodiscard]] bool is_wide() const { return p90 > 2 * median || 2 * p10 < median; }
};

/// Measures a call on all ranks together; all ranks get the same result. `aside` has the ranks of
/// the call but is another communicator than the one of the call.
///
/// Unless the pace has barriers, iterations follow each other without one, as in nccl-tests: a
/// call whose root does not wait for other ranks overlaps with the next. Each rank records its own
/// durations; their maximum over ranks is computed at the end. `rewrite` writes this rank's input,
/// for a fresh pace.
[[nodiscard]] Timing time_call(Communicator& aside, const Pace& pace,
                               const std::function<void()>& call,
                               const std::function<void()>& rewrite = {});

/// The microseconds of one call on its slowest rank: the median of a batch of calls, and the median
/// over batches, at least one. Before each call, `rewrite` writes this rank's input, and all ranks
/// wait for each other; neither is measured.
[[nodiscard]] double time_in_batches(Communicator& aside, const Pace& pace,
                                     const std::function<void()>& call,
                                     const std::function<void()>& rewrite);

}  // namespace tutti::measure
