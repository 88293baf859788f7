#include "fuzz/network_judge.hpp"

#include <tutti/network/network_dot.hpp>
#include <tutti/network/network_json.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/network/stretch.hpp>

#include "fuzz/finding.hpp"

namespace tutti::test {
namespace {

/// Pairs of a few ranks find the same errors as pairs of many.
constexpr std::uint32_t most_ranks = 12;
constexpr std::size_t most_nodes = 3000;

void walk(const Network& network, Routes& routes, Rank from, Rank to) {
  const auto links = attempt([&] { return routes.between(from, to); });
  if (!links) return;
  NodeId at = network.ranks[from];
  for (const LinkId link : *links) {
    require(link.index() < network.links.size(), "a route has a link out of range");
    require(network[link].from == at, "a route is not connected");
    at = network[link].to;
  }
  require(at == network.ranks[to], "a route ends at another node");
}

void walk_all(const Network& network) {
  const std::uint32_t ranks = std::min(network.rank_count(), most_ranks);
  for (const RoutePolicy policy : {RoutePolicy::automatic, RoutePolicy::shortest, RoutePolicy::ecmp,
                                   RoutePolicy::dimension_order, RoutePolicy::up_down}) {
    auto routes = attempt([&] { return Routes(network, {.policy = policy}); });
    if (!routes) continue;
    std::vector<Rank> order;
    for (std::uint32_t a = 0; a < ranks; ++a) {
      order.emplace_back(a);
      for (std::uint32_t b = 0; b < ranks; ++b) walk(network, *routes, a, b);
    }
    const auto stretched = attempt([&] { return stretch(*routes, ring_hops(order)); });
    require(!stretched || stretched->average <= stretched->worst,
            "the average stretch is above the worst");
  }
}

}  // namespace

void judge(const Network& network) {
  network.check();
  const auto text = attempt([&] { return to_json(network); });
  if (text) {
    Network expected = network;
    if (!std::holds_alternative<wiring::Torus>(expected.wiring)) expected.wiring = {};
    require(network_from_json(*text) == expected, "a network does not round-trip");
  }
  require(!to_dot(network).empty(), "a network has no drawing");
  if (network.nodes.size() <= most_nodes) walk_all(network);
}

}  // namespace tutti::test
