#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tutti/communicator.hpp>

namespace tutti::cli {

/// How often a call is made to see how long it takes.
struct BenchPace {
  std::optional<std::size_t> warm_ups{};    ///< None: for a while.
  std::optional<std::size_t> iterations{};  ///< None: as many as fit into the time.
  double seconds = 0.1;
  double expected = 0;   ///< Seconds that one call is thought to take; 0: that is not known.
  bool barrier = false;  ///< Before each call, and not measured: calls then cannot overlap.
};

/// Microseconds. An iteration takes as long as on the rank where it takes longest.
struct BenchTiming {
  std::size_t iterations = 0;
  double median = 0;
  double p10 = 0;
  double p90 = 0;

  /// Whether the times differ so much that the median says little.
  [[nodiscard]] bool is_wide() const { return p90 > 2 * median || 2 * p10 < median; }
};

/// Of sorted numbers, at least one, the one that so large a part of them lies below; between two of
/// them in proportion.
[[nodiscard]] double quantile(std::span<const double> sorted, double part);

/// The half of these lies below it; at least one.
[[nodiscard]] double median_of(std::vector<double> numbers);

/// Measures on all ranks together; all get the same figures. `aside` has the same ranks as the call
/// and is not what the call is made on.
///
/// Unless told otherwise, iterations follow each other without a barrier, as in nccl-tests: a call
/// whose root need not wait for anybody overlaps with the next. Each rank notes its own durations;
/// their maximum over ranks is taken when all is over.
[[nodiscard]] BenchTiming time_call(Communicator& aside, const BenchPace& pace,
                                    const std::function<void()>& call);

/// Microseconds for a call when several follow each other, until the last rank is done with the
/// last of them: the mean of a batch, and the median of batches; one at least. Where calls overlap,
/// most of them are short and a few long, so that the median of single ones would flatter.
[[nodiscard]] double time_in_batches(Communicator& aside, const BenchPace& pace,
                                     const std::function<void()>& call);

}  // namespace tutti::cli
