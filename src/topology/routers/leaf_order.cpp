#include "topology/routers/leaf_order.hpp"

#include <algorithm>
#include <numeric>

#include "topology/adjacency.hpp"

namespace tutti {
namespace {

NodeId leaf_of(NodeId rank, const Network& network, const Adjacency& leaving) {
  NodeId at = rank;
  while (true) {
    NodeId above = at;
    std::uint32_t ways = 0;
    for (const Adjacency::Edge& edge : leaving.of(at)) {
      if (network[edge.other].level <= network[at].level) continue;
      above = edge.other;
      ++ways;
    }
    if (ways != 1) return at;
    at = above;
  }
}

}  // namespace

std::vector<std::uint32_t> leaf_order(const Network& network) {
  const std::uint32_t p = network.rank_count();
  const Adjacency leaving(network, Adjacency::Direction::leaving);
  std::vector<std::uint32_t> lowest_of(network.nodes.size(), p);  // The lowest rank of each leaf.
  std::vector<std::uint32_t> lowest(p);                           // And that of each rank's leaf.
  for (std::uint32_t r = 0; r < p; ++r) {
    const NodeId leaf = leaf_of(network.ranks[r], network, leaving);
    lowest_of[leaf.index()] = std::min(lowest_of[leaf.index()], r);
    lowest[r] = lowest_of[leaf.index()];
  }
  std::vector<std::uint32_t> ranks(p);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return lowest[a] < lowest[b]; });
  std::vector<std::uint32_t> places(p);
  for (std::uint32_t i = 0; i < p; ++i) places[ranks[i]] = i;
  return places;
}

}  // namespace tutti
