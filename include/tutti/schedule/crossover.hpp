#pragma once

#include <cstdint>
#include <optional>

#include <tutti/export.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Where two schedules for the same collective change places.
struct Crossover {
  /// The least size at which the one that loses below it is as fast or faster; none if one of them
  /// is never slower than the other in the range that was searched.
  std::optional<std::uint64_t> size;
  bool first_wins_below = false;  ///< Whether the first schedule is the faster below that size,
  bool first_wins_above = false;  ///< and from it on; equal to the former where there is no size.
};

/// Finds the crossover between sizes `from` and `to` by bisection on the priced schedules, with
/// false position to hasten it. Should they cross more than once, one of the crossings is found.
[[nodiscard]] TUTTI_API Crossover crossover(const Schedule& first, const Schedule& second,
                                            const CostModel& model, Ports ports, std::uint64_t from,
                                            std::uint64_t to);

}  // namespace tutti
