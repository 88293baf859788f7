#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A hop of an overlay: `from` sends to `to`.
struct Hop {
  Rank from{};
  Rank to{};

  friend bool operator==(const Hop&, const Hop&) = default;
};

/// The number of underlay links that the hops of an overlay take.
struct Stretch {
  double average = 0;
  std::uint32_t worst = 0;
  Hop worst_hop{};
  /// The number of links of each hop.
  std::vector<std::uint32_t> links{};
};

[[nodiscard]] TUTTI_API Stretch stretch(Routes& routes, std::span<const Hop> hops);

/// The hops of a ring: from each rank to the next, and from the last to the first.
[[nodiscard]] TUTTI_API std::vector<Hop> ring_hops(std::span<const Rank> order);

/// The number of hops that cross each link of a network.
[[nodiscard]] TUTTI_API std::vector<std::uint32_t> hops_per_link(const Network& network,
                                                                 Routes& routes,
                                                                 std::span<const Hop> hops);

}  // namespace tutti
