#pragma once

#include <cstdint>
#include <optional>

#include <tutti/export.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// The size at which the faster of two schedules for the same collective changes.
struct Crossover {
  /// The smallest size at which the schedule that is slower below it is as fast or faster. No value
  /// if one schedule is never slower than the other in the searched range.
  std::optional<std::uint64_t> size;
  bool first_wins_below = false;  ///< The first schedule is faster below that size.
  bool first_wins_above =
      false;  ///< The same from that size on; equal to first_wins_below without a size.
};

/// Finds the crossover between sizes `from` and `to` by bisection on the priced schedules,
/// accelerated by false position. If they cross more than once, returns one of the crossings.
[[nodiscard]] TUTTI_API Crossover crossover(const Schedule& first, const Schedule& second,
                                            const CostModel& model, Ports ports, std::uint64_t from,
                                            std::uint64_t to);

}  // namespace tutti
