#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/network/stretch.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// The load of a schedule on one link of a network, over all rounds.
struct LinkLoad {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// The load of each link, in the order of Network::links. places[r] is the rank of the network on
/// which rank r runs; empty: rank r. Throws invalid_argument if the network has fewer ranks than
/// the schedule.
[[nodiscard]] TUTTI_API std::vector<LinkLoad> link_loads(const Schedule& schedule,
                                                         const Layout& layout,
                                                         const Network& network, Routes& routes,
                                                         std::span<const Rank> places = {});

/// Every message of a schedule as a hop, in the order of ranks and steps. For stretch().
[[nodiscard]] TUTTI_API std::vector<Hop> hops_of(const Schedule& schedule);

}  // namespace tutti
