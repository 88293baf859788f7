#include "topology/routers/search_router.hpp"

#include <algorithm>
#include <limits>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr std::uint32_t no_inner = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t unreachable = std::numeric_limits<std::uint16_t>::max();

}  // namespace

SearchRouter::SearchRouter(const Network& network, bool up_down)
    : up_down_(up_down),
      leaving_(network, Adjacency::Direction::leaving),
      arriving_(network, Adjacency::Direction::arriving),
      ranks_(network.ranks),
      inner_(network.nodes.size(), no_inner),
      by_gate_(network.nodes.size()) {
  for (const NodeId node : ranks_) names_.push_back(network[node].name);
  for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
    levels_.push_back(network.nodes[i].level);
    if (network.nodes[i].kind == NodeKind::rank && !network.ranks_forward) continue;
    inner_[i] = static_cast<std::uint32_t>(inner_nodes_.size());
    inner_nodes_.emplace_back(i);
  }
  if (inner_nodes_.size() >= unreachable) {
    throw Error(ErrorCode::unsupported,
                "paths through an irregular network are searched only up to " +
                    std::to_string(unreachable) + " nodes that forward, and this has " +
                    std::to_string(inner_nodes_.size()));
  }
}

NodeId SearchRouter::gate(NodeId target) const {
  const auto edges = arriving_.of(target);
  const bool shares = inner_[target.index()] == no_inner && edges.size() == 1 &&
                      inner_[edges.front().other.index()] != no_inner;
  return shares ? edges.front().other : target;
}

const SearchRouter::Distances& SearchRouter::distances_to(NodeId gate) {
  Distances& distances = by_gate_[gate.index()];
  if (distances.any.empty()) search(gate, distances);
  return distances;
}

SearchRouter::Distance SearchRouter::distance(const std::vector<Distance>& of, NodeId node,
                                              NodeId gate) const {
  if (node == gate) return 0;
  const std::uint32_t inner = inner_[node.index()];
  return inner == no_inner ? unreachable : of[inner];
}

void SearchRouter::search(NodeId gate, Distances& distances) const {
  // One more entry than nodes, so that the result of a search is never empty (empty: not searched).
  std::vector<Distance> found(inner_nodes_.size() + 1, unreachable);
  std::vector<NodeId> open{gate};
  if (inner_[gate.index()] != no_inner) found[inner_[gate.index()]] = 0;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const NodeId node = open[next];
    const auto further = static_cast<Distance>(distance(found, node, gate) + 1);
    for (const Adjacency::Edge& edge : arriving_.of(node)) {
      const std::uint32_t inner = inner_[edge.other.index()];
      if (inner == no_inner || found[inner] != unreachable) continue;
      if (up_down_ && goes_up(edge.other, node)) continue;
      found[inner] = further;
      open.push_back(edge.other);
    }
  }
  distances.any = std::move(found);
  if (up_down_) search_up(distances);
}

void SearchRouter::search_up(Distances& distances) const {
  distances.down = distances.any;
  // Buckets of nodes by distance; the nearest node settles the nodes below it.
  std::vector<std::vector<NodeId>> open;
  const auto add = [&](NodeId node, std::size_t far) {
    if (open.size() <= far) open.resize(far + 1);
    open[far].push_back(node);
  };
  for (std::size_t i = 0; i < inner_nodes_.size(); ++i) {
    if (distances.any[i] != unreachable) add(inner_nodes_[i], distances.any[i]);
  }
  for (std::size_t far = 0; far < open.size(); ++far) {
    for (std::size_t i = 0; i < open[far].size(); ++i) {
      const NodeId node = open[far][i];
      if (distances.any[inner_[node.index()]] != far) continue;
      for (const Adjacency::Edge& edge : arriving_.of(node)) {
        const std::uint32_t inner = inner_[edge.other.index()];
        if (inner == no_inner || !goes_up(edge.other, node)) continue;
        if (distances.any[inner] <= far + 1) continue;
        distances.any[inner] = static_cast<Distance>(far + 1);
        add(edge.other, far + 1);
      }
    }
  }
}

void SearchRouter::append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) {
  const NodeId target = ranks_[to];
  const NodeId goal = gate(target);
  const Distances& distances = distances_to(goal);
  NodeId at = ranks_[from];
  bool down = false;
  while (at != goal) {
    Distance least = unreachable;
    std::uint32_t ways = 0;
    const auto far = [&](const Adjacency::Edge& edge) {
      if (!up_down_) return distance(distances.any, edge.other, goal);
      const bool up = goes_up(at, edge.other);
      if (up && down) return unreachable;
      return distance(up ? distances.any : distances.down, edge.other, goal);
    };
    for (const Adjacency::Edge& edge : leaving_.of(at)) {
      const Distance each = far(edge);
      if (each < least) {
        least = each;
        ways = 0;
      }
      if (each == least) ++ways;
    }
    if (least == unreachable) no_path(from, to);
    std::uint32_t left = ways == 1 ? 0 : fork.pick(ways);
    for (const Adjacency::Edge& edge : leaving_.of(at)) {
      if (far(edge) != least || left-- > 0) continue;
      links.push_back(edge.link);
      down = up_down_ && !goes_up(at, edge.other);
      at = edge.other;
      break;
    }
  }
  if (goal != target) links.push_back(arriving_.of(target).front().link);
}

void SearchRouter::no_path(Rank from, Rank to) const {
  throw Error(ErrorCode::invalid_argument,
              "no path leads from " + names_[from] + " to " + names_[to] +
                  (up_down_ ? " that goes up and then down: correct the levels, or ask for the "
                              "shortest paths"
                            : ": add links, or set ranks_forward if ranks forward"));
}

}  // namespace tutti
