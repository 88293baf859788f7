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

/// What a ring costs in which every rank sends to the next at once. The first that differs decides.
struct RingCost {
  double slowest = 0;     ///< Seconds of its slowest edge, alone.
  double contention = 0;  ///< Seconds for which its busiest link is busy; 0 if links are not known.
  double sum = 0;         ///< Seconds of all edges together.

  friend auto operator<=>(const RingCost&, const RingCost&) = default;
};

/// An order of the ranks round a ring.
struct RingOrder {
  std::vector<Rank> ranks{};  ///< Begins with rank 0.
  RingCost cost{};
  RingCost given{};    ///< Of the ranks in the order of their numbers.
  bool exact = false;  ///< Whether no other order costs less.
};

/// The order of least cost: exactly up to 9 ranks, beyond by local search, and never one that costs
/// more than the given. The same input gives the same order.
[[nodiscard]] TUTTI_API RingOrder order_ring(const PairTimes& times);

/// The same for messages of `bytes` on a network, heeding that edges share links.
[[nodiscard]] TUTTI_API RingOrder order_ring(const Network& network, Routes& routes,
                                             std::uint64_t bytes);

/// What an order costs. Throws invalid_argument unless it names every rank once.
[[nodiscard]] TUTTI_API RingCost ring_cost(const PairTimes& times, std::span<const Rank> order);
[[nodiscard]] TUTTI_API RingCost ring_cost(const Network& network, Routes& routes,
                                           std::uint64_t bytes, std::span<const Rank> order);

}  // namespace tutti
