#include "topology/routers/leaf_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "topology/adjacency.hpp"

namespace tutti {
namespace {

/// The nodes to which links lead from `node` to a higher level, or to a lower one: one for each
/// link.
std::vector<NodeId> neighbours(NodeId node, bool higher, const Network& network,
                               const Adjacency& leaving) {
  std::vector<NodeId> found;
  for (const Adjacency::Edge& edge : leaving.of(node)) {
    const std::uint32_t level = network[edge.other].level;
    if (higher ? level > network[node].level : level < network[node].level) {
      found.push_back(edge.other);
    }
  }
  return found;
}

/// Whether a node on the way up from a rank serves no other rank, as a NIC does.
bool serves_one_rank(NodeId node, const Network& network, const Adjacency& leaving) {
  if (network[node].kind == NodeKind::rank) return true;
  const std::vector<NodeId> below = neighbours(node, false, network, leaving);
  return std::all_of(below.begin(), below.end(),
                     [&](NodeId each) { return each == below.front(); });
}

/// In the order of their numbers.
std::vector<NodeId> leaf_of(NodeId rank, const Network& network, const Adjacency& leaving) {
  std::vector<NodeId> open{rank};
  std::vector<NodeId> leaf;
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    const std::vector<NodeId> above = neighbours(at, true, network, leaving);
    const bool passes = above.size() == 1 || serves_one_rank(at, network, leaving);
    if (above.empty() || !passes) {
      leaf.push_back(at);
    } else {
      open.insert(open.end(), above.begin(), above.end());
    }
  }
  std::sort(leaf.begin(), leaf.end());
  leaf.erase(std::unique(leaf.begin(), leaf.end()), leaf.end());
  return leaf;
}

}  // namespace

std::vector<std::uint32_t> leaf_order(const Network& network) {
  const std::uint32_t p = network.rank_count();
  const Adjacency leaving(network, Adjacency::Direction::leaving);
  std::map<std::vector<NodeId>, std::uint32_t> lowest_of;  // The lowest rank of each leaf.
  std::vector<std::uint32_t> lowest(p);                    // And that of each rank's leaf.
  for (std::uint32_t r = 0; r < p; ++r) {
    lowest[r] = lowest_of.try_emplace(leaf_of(network.ranks[r], network, leaving), r).first->second;
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
