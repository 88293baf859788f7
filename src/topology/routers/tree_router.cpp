#include "topology/routers/tree_router.hpp"

#include <algorithm>
#include <unordered_set>

#include "topology/adjacency.hpp"

namespace tutti {
namespace {

/// The node with the most links: as the root it gives the shortest paths up.
NodeId busiest(const Network& network, const Adjacency& leaving) {
  NodeId best{0};
  for (std::uint32_t i = 1; i < network.nodes.size(); ++i) {
    if (leaving.of(NodeId{i}).size() > leaving.of(best).size()) best = NodeId{i};
  }
  return best;
}

}  // namespace

bool TreeRouter::fits(const Network& network) {
  if (network.links.size() != 2 * (network.nodes.size() - 1)) return false;
  std::unordered_set<std::uint64_t> pairs;
  pairs.reserve(network.links.size());
  std::vector<std::uint32_t> degree(network.nodes.size());
  for (const Link& link : network.links) {
    ++degree[link.from.index()];
    if (!pairs.insert((std::uint64_t{link.from.index()} << 32) | link.to.index()).second) {
      return false;
    }
  }
  const bool both_ways =
      std::all_of(network.links.begin(), network.links.end(), [&](const Link& link) {
        return pairs.contains((std::uint64_t{link.to.index()} << 32) | link.from.index());
      });
  const bool at_the_ends =
      network.ranks_forward || std::all_of(network.ranks.begin(), network.ranks.end(),
                                           [&](NodeId node) { return degree[node.index()] <= 1; });
  if (!both_ways || !at_the_ends) return false;
  // A connected network with so few links has no cycle.
  const Adjacency leaving(network, Adjacency::Direction::leaving);
  std::vector<bool> seen(network.nodes.size());
  std::vector<NodeId> open{NodeId{0}};
  seen[0] = true;
  std::size_t count = 1;
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    for (const Adjacency::Edge& edge : leaving.of(node)) {
      if (seen[edge.other.index()]) continue;
      seen[edge.other.index()] = true;
      ++count;
      open.push_back(edge.other);
    }
  }
  return count == network.nodes.size();
}

TreeRouter::TreeRouter(const Network& network)
    : places_(network.nodes.size()), ranks_(network.ranks) {
  const Adjacency leaving(network, Adjacency::Direction::leaving);
  const Adjacency arriving(network, Adjacency::Direction::arriving);
  const NodeId root = busiest(network, leaving);
  places_[root.index()].parent = root;
  std::vector<NodeId> open{root};
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    for (const Adjacency::Edge& edge : leaving.of(node)) {
      if (edge.other == places_[node.index()].parent) continue;
      Place& place = places_[edge.other.index()];
      place.parent = node;
      place.down = edge.link;
      place.depth = places_[node.index()].depth + 1;
      open.push_back(edge.other);
    }
    for (const Adjacency::Edge& edge : arriving.of(node)) {
      if (edge.other != places_[node.index()].parent) places_[edge.other.index()].up = edge.link;
    }
  }
}

void TreeRouter::append(Rank from, Rank to, Fork& /*fork*/, std::vector<LinkId>& links) const {
  const auto place = [&](NodeId node) -> const Place& { return places_[node.index()]; };
  NodeId low = ranks_[from];
  NodeId high = ranks_[to];
  NodeId meet = high;
  // Climbs from both ends, the deeper first, until they meet.
  std::uint32_t downs = 0;
  while (low != meet) {
    if (place(low).depth >= place(meet).depth) {
      links.push_back(place(low).up);
      low = place(low).parent;
    } else {
      ++downs;
      meet = place(meet).parent;
    }
  }
  links.resize(links.size() + downs);
  for (std::uint32_t i = 0; i < downs; ++i) {
    links[links.size() - 1 - i] = place(high).down;
    high = place(high).parent;
  }
}

}  // namespace tutti
