#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/pair_times.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// The cost of a ring in which all ranks send to their successor at the same time. Costs are
/// compared member by member, in this order.
struct RingCost {
  double slowest = 0;     ///< Seconds of the slowest edge on an idle network.
  double contention = 0;  ///< Seconds that the busiest link is busy; 0 if links are unknown.
  double sum = 0;         ///< Sum of the seconds of all edges.

  friend auto operator<=>(const RingCost&, const RingCost&) = default;
};

/// An order of the ranks around a ring.
struct RingOrder {
  std::vector<Rank> ranks{};  ///< Begins with rank 0.
  RingCost cost{};
  RingCost given{};    ///< Cost of the ring 0, 1, 2, ….
  bool exact = false;  ///< True if `ranks` is proved to be of least cost.
};

/// Finds the order of least cost: exactly up to 9 ranks, by local search beyond. The result never
/// costs more than the ring 0, 1, 2, …. The same input gives the same order.
[[nodiscard]] TUTTI_API RingOrder order_ring(const PairTimes& times);

/// The same for messages of `bytes` on a network. Takes into account that edges share links.
[[nodiscard]] TUTTI_API RingOrder order_ring(const Network& network, Routes& routes,
                                             std::uint64_t bytes);

/// The cost of an order. Throws invalid_argument unless it contains every rank exactly once.
[[nodiscard]] TUTTI_API RingCost ring_cost(const PairTimes& times, std::span<const Rank> order);
[[nodiscard]] TUTTI_API RingCost ring_cost(const Network& network, Routes& routes,
                                           std::uint64_t bytes, std::span<const Rank> order);

}  // namespace tutti
