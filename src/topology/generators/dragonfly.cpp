#include <tutti/error.hpp>

#include "topology/generators/generators.hpp"

namespace tutti::generator {

// Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", 2008: groups
// of fully connected routers, and one link between any two groups, assigned to the routers of a
// group round-robin.
//
// DragonflyRouter depends on the order of the links: rank to router and back; within groups, group
// by group; between groups, by the group that a link leaves.
Network dragonfly(const Arguments& arguments) {
  const wiring::Dragonfly dragonfly{.groups = arguments.count("g"),
                                    .routers = arguments.count("a"),
                                    .ranks = arguments.count("p")};
  const auto [groups, routers, ranks] = dragonfly;
  check_size(std::uint64_t{groups} * routers * ranks);
  check_size(std::uint64_t{groups} * groups);
  check_size(std::uint64_t{groups} * routers * routers);
  const double bandwidth = arguments.rate("bandwidth");
  const double latency = arguments.time("latency");
  Network network;
  add_ranks(network, groups * routers * ranks);
  std::vector<std::vector<NodeId>> by_group(groups);
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (std::uint32_t a = 0; a < routers; ++a) {
      by_group[g].push_back(
          network.add("g" + std::to_string(g) + "." + std::to_string(a), NodeKind::switch_));
    }
  }
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) {
    const std::uint32_t router = r / ranks;
    network.join(network.ranks[r], by_group[router / routers][router % routers], bandwidth,
                 latency);
  }
  for (const auto& group : by_group) link_all(network, group, bandwidth, latency);
  const double global = arguments.rate("global");
  const double global_latency = arguments.time("global_latency");
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (std::uint32_t h = 0; h < groups; ++h) {
      if (g == h) continue;
      network.add_link(by_group[g][dragonfly.exit(g, h)], by_group[h][dragonfly.exit(h, g)], global,
                       global_latency);
    }
  }
  network.wiring = dragonfly;
  return network;
}

}  // namespace tutti::generator
