#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A hop of an overlay: who sends to whom.
struct Hop {
  Rank from{};
  Rank to{};

  friend bool operator==(const Hop&, const Hop&) = default;
};

/// How many links of the underlay the hops of an overlay take.
struct Stretch {
  double average = 0;
  std::uint32_t worst = 0;
  Hop worst_hop{};
  /// Of each hop.
  std::vector<std::uint32_t> links{};
};

[[nodiscard]] TUTTI_API Stretch stretch(Routes& routes, std::span<const Hop> hops);

/// The hops of a ring: from each rank to the next, and from the last to the first.
[[nodiscard]] TUTTI_API std::vector<Hop> ring_hops(std::span<const Rank> order);

/// How many of the hops cross each link of a network.
[[nodiscard]] TUTTI_API std::vector<std::uint32_t> hops_per_link(const Network& network,
                                                                 Routes& routes,
                                                                 std::span<const Hop> hops);

}  // namespace tutti
