#include "synthesis/rank_network.hpp"

#include <algorithm>
#include <limits>

#include <tutti/network/routes.hpp>

#include "synthesis/switch_removal.hpp"

namespace tutti::synthesis {
namespace {

std::vector<Arc> arcs_of(const Sending& sending) {
  std::vector<Arc> arcs;
  arcs.reserve(sending.network.links.size());
  for (const Link& link : sending.network.links) {
    const std::uint32_t a = link.from.index();
    const std::uint32_t b = link.to.index();
    arcs.push_back({.from = sending.reversed ? b : a,
                    .to = sending.reversed ? a : b,
                    .bytes_per_second = link.bytes_per_second});
  }
  return arcs;
}

Demand demand_of(const Sending& sending) {
  Demand demand{.nodes = static_cast<std::uint32_t>(sending.network.nodes.size())};
  for (const std::uint32_t source : sending.sources) {
    demand.sources.push_back(sending.network.ranks[source].index());
  }
  for (const NodeId rank : sending.network.ranks) demand.sinks.push_back(rank.index());
  return demand;
}

double latency_of(const Network& network, const Strand& strand) {
  double latency = 0;
  for (const LinkId link : strand.links) latency += network[link].latency;
  return latency;
}

RankEdge rank_edge(const Network& network, const SwitchRemoval::Edge& edge, double unit) {
  RankEdge made{.from = *network.rank_of(NodeId{edge.from}),
                .to = *network.rank_of(NodeId{edge.to}),
                .capacity = edge.capacity,
                .bytes_per_second = unit * static_cast<double>(edge.capacity),
                .strands = edge.strands};
  std::stable_sort(made.strands.begin(), made.strands.end(),
                   [](const Strand& a, const Strand& b) { return a.amount > b.amount; });
  const Strand& widest = made.strands.front();
  made.latency = latency_of(network, widest);
  // Links of its own, whole: rounding to trees does not make them slower. Messages take the widest.
  const bool links = std::all_of(made.strands.begin(), made.strands.end(),
                                 [](const Strand& each) { return each.links.size() == 1; });
  if (links) {
    double best = 0;
    for (const Strand& each : made.strands) {
      best = std::max(best, network[each.links.front()].bytes_per_second);
    }
    made.bytes_per_second = best;
  }
  return made;
}

/// An edge between any two ranks along the route of the network. Edges that share a link divide it.
std::vector<RankEdge> edges_along_routes(const Sending& sending) {
  const Network& network = sending.network;
  Routes routes(network);
  std::vector<RankEdge> edges;
  std::vector<std::uint32_t> users(network.links.size(), 0);
  for (std::uint32_t a = 0; a < network.rank_count(); ++a) {
    for (std::uint32_t b = 0; b < network.rank_count(); ++b) {
      if (a == b) continue;
      Strand strand{.links = routes.between(sending.reversed ? b : a, sending.reversed ? a : b),
                    .amount = 1};
      if (sending.reversed) std::reverse(strand.links.begin(), strand.links.end());
      for (const LinkId link : strand.links) ++users[link.index()];
      const double latency = latency_of(network, strand);
      edges.push_back({.from = a, .to = b, .latency = latency, .strands = {std::move(strand)}});
    }
  }
  for (RankEdge& edge : edges) {
    double rate = std::numeric_limits<double>::infinity();
    for (const LinkId link : edge.strands.front().links) {
      rate = std::min(rate, network[link].bytes_per_second / users[link.index()]);
    }
    edge.bytes_per_second = rate;
  }
  return edges;
}

/// Divides the capacity of a graph of ranks into trees again, after a loss. False if no tree fits.
bool divide_again(RankNetwork& found, const Sending& sending, std::uint32_t most_trees,
                  const Pace& pace) {
  std::vector<Arc> arcs;
  for (const RankEdge& edge : found.graph.edges) {
    arcs.push_back({.from = edge.from, .to = edge.to, .bytes_per_second = edge.bytes_per_second});
  }
  if (arcs.empty()) return false;
  Demand demand{.nodes = found.graph.ranks, .sources = sending.sources};
  for (std::uint32_t r = 0; r < found.graph.ranks; ++r) demand.sinks.push_back(r);
  Capacities capacities(arcs, demand);
  const Rate rate = capacities.best_rate(pace);
  if (rate.above == 0) return false;
  const TreeCount count = choose_tree_count(capacities, rate, most_trees, pace);
  found.trees = count.trees;
  for (std::size_t i = 0; i < found.graph.edges.size(); ++i) {
    found.graph.edges[i].capacity = count.capacities[i];
  }
  return true;
}

}  // namespace

RankNetwork rank_network(const Sending& sending, std::uint32_t most_trees, bool count_trees,
                         const Pace& pace) {
  const std::vector<Arc> arcs = arcs_of(sending);
  const Demand demand = demand_of(sending);
  Capacities capacities(arcs, demand);
  const Rate rate = capacities.best_rate(pace);
  const bool has_switches = sending.network.nodes.size() > sending.network.ranks.size();
  const TreeCount count = count_trees || has_switches
                              ? choose_tree_count(capacities, rate, most_trees, pace)
                              : TreeCount{.capacities = std::vector<std::int64_t>(arcs.size(), 1)};
  SwitchRemoval removal(arcs, count.capacities, demand, count.trees);
  removal.run(pace);
  RankNetwork found{.graph = {.ranks = sending.network.rank_count()},
                    .best_rate = rate.bytes_per_second(),
                    .trees = count.trees};
  for (const Link& link : sending.network.links) {
    found.graph.link_rates.push_back(link.bytes_per_second);
  }
  const double unit = rate.bytes_per_second() * count.part / count.trees;
  for (const SwitchRemoval::Edge& edge : removal.edges()) {
    found.graph.edges.push_back(rank_edge(sending.network, edge, unit));
  }
  if (removal.lossy() && !divide_again(found, sending, most_trees, pace)) {
    // More enters a switch than leaves it, or the reverse, and too much was lost.
    found.graph.edges = edges_along_routes(sending);
    if (!divide_again(found, sending, most_trees, pace)) {
      throw Error(ErrorCode::internal, "no trees along the routes of " + sending.network.name);
    }
  }
  return found;
}

}  // namespace tutti::synthesis
