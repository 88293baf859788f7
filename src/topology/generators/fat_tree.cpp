#include <tutti/error.hpp>

#include "topology/generators/generators.hpp"

namespace tutti::generator {
namespace {

/// Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network architecture", 2008.
/// The oversubscription reduces the number of aggregation switches per pod.
wiring::FatTree dimensions(std::uint32_t k, std::uint32_t oversubscription) {
  const std::uint32_t half = k / 2;
  constexpr std::uint32_t most = 128;
  if (k % 2 != 0 || k > most) {
    throw Error(ErrorCode::invalid_argument, "cannot build a fat tree of k=" + std::to_string(k) +
                                                 ": k is the number of ports of a switch; it "
                                                 "must be even and at most " +
                                                 std::to_string(most));
  }
  if (half % oversubscription != 0) {
    throw Error(ErrorCode::invalid_argument,
                "an oversubscription of " + std::to_string(oversubscription) +
                    " does not divide the " + std::to_string(half) +
                    " uplinks of an edge switch: choose a divisor of " + std::to_string(half));
  }
  return {
      .pods = k, .edges = half, .hosts = half, .spines = half / oversubscription, .cores = half};
}

std::vector<NodeId> add_switches(Network& network, const std::string& prefix, std::uint32_t count,
                                 std::uint32_t level) {
  std::vector<NodeId> switches;
  switches.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    switches.push_back(network.add(prefix + std::to_string(i), NodeKind::switch_, level));
  }
  return switches;
}

}  // namespace

// FatTreeRouter depends on the order of the links: rank to edge; edge to aggregation, by edge
// switch; aggregation to core, by aggregation switch.
Network fat_tree(const Arguments& arguments) {
  const wiring::FatTree tree =
      dimensions(arguments.count("k"), arguments.count("oversubscription"));
  const double bandwidth = arguments.rate("bandwidth");
  const double latency = arguments.time("latency");
  Network network;
  add_ranks(network, tree.pods * tree.edges * tree.hosts);
  const auto edges = add_switches(network, "e", tree.pods * tree.edges, 1);
  const auto spines = add_switches(network, "a", tree.pods * tree.spines, 2);
  const auto cores = add_switches(network, "c", tree.spines * tree.cores, 3);
  const std::size_t wires =
      network.ranks.size() + edges.size() * tree.spines + spines.size() * tree.cores;
  network.links.reserve(2 * wires);
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) {
    network.join(network.ranks[r], edges[r / tree.hosts], bandwidth, latency);
  }
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    for (std::uint32_t j = 0; j < tree.spines; ++j) {
      network.join(edges[e], spines[e / tree.edges * tree.spines + j], bandwidth, latency);
    }
  }
  for (std::uint32_t a = 0; a < spines.size(); ++a) {
    for (std::uint32_t c = 0; c < tree.cores; ++c) {
      network.join(spines[a], cores[a % tree.spines * tree.cores + c], bandwidth, latency);
    }
  }
  network.wiring = tree;
  return network;
}

}  // namespace tutti::generator
