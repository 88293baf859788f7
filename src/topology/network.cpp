#include <cmath>
#include <unordered_set>

#include <tutti/error.hpp>
#include <tutti/network/network.hpp>

#include "core/reject.hpp"
#include "topology/adjacency.hpp"

namespace tutti {
namespace {

void check_link(const Network& network, const Link& link) {
  if (link.from.index() >= network.nodes.size() || link.to.index() >= network.nodes.size()) {
    reject("a link joins nodes " + std::to_string(link.from.index()) + " and " +
           std::to_string(link.to.index()) + ", but there are only " +
           std::to_string(network.nodes.size()));
  }
  const std::string which =
      "the link " + network[link.from].name + "→" + network[link.to].name + " ";
  if (link.from == link.to) reject(which + "connects a node with itself: remove it");
  if (!(link.bytes_per_second > 0) || !std::isfinite(link.bytes_per_second)) {
    reject(which + "has a bandwidth of " + std::to_string(link.bytes_per_second) +
           " B/s: give it a positive, finite one, or remove it");
  }
  if (!(link.latency >= 0) || !std::isfinite(link.latency)) {
    reject(which + "has a latency of " + std::to_string(link.latency) +
           " s: it must be finite and not negative");
  }
}

void check_names(const Network& network) {
  std::unordered_set<std::string_view> names;
  names.reserve(network.nodes.size());
  for (const Node& node : network.nodes) {
    if (node.name.empty()) reject("a node has no name");
    if (!names.insert(node.name).second) reject("two nodes have the name '" + node.name + "'");
  }
}

/// The nodes reached from rank 0 by a walk along the links, or against them.
std::vector<bool> reached(const Network& network, Adjacency::Direction direction) {
  const Adjacency adjacency(network, direction);
  std::vector<bool> seen(network.nodes.size());
  std::vector<NodeId> open{network.ranks.front()};
  seen[open.front().index()] = true;
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    const bool passes = network.ranks_forward || network[node].kind != NodeKind::rank ||
                        node == network.ranks.front();
    if (!passes) continue;
    for (const Adjacency::Edge& edge : adjacency.of(node)) {
      if (seen[edge.other.index()]) continue;
      seen[edge.other.index()] = true;
      open.push_back(edge.other);
    }
  }
  return seen;
}

void check_connected(const Network& network) {
  const auto there = reached(network, Adjacency::Direction::leaving);
  const auto back = reached(network, Adjacency::Direction::arriving);
  const std::string first = network.node_of(Rank{0}).name;
  const std::string cure =
      network.ranks_forward ? ": add links" : ": add links, or set ranks_forward if ranks forward";
  for (const NodeId node : network.ranks) {
    const std::string& other = network[node].name;
    if (!there[node.index()]) reject("no path leads from " + first + " to " + other + cure);
    if (!back[node.index()]) reject("no path leads from " + other + " to " + first + cure);
  }
}

}  // namespace

std::string_view name(NodeKind kind) {
  switch (kind) {
    case NodeKind::rank:
      return "rank";
    case NodeKind::host:
      return "host";
    case NodeKind::nic:
      return "nic";
    case NodeKind::switch_:
      return "switch";
  }
  return "unknown";
}

NodeId Network::add(std::string node_name, NodeKind kind, std::uint32_t level) {
  const NodeId id{static_cast<std::uint32_t>(nodes.size())};
  nodes.push_back({.name = std::move(node_name), .kind = kind, .level = level});
  if (kind == NodeKind::rank) ranks.push_back(id);
  return id;
}

LinkId Network::add_link(NodeId from, NodeId to, double bytes_per_second, double latency) {
  const Link link{.from = from, .to = to, .bytes_per_second = bytes_per_second, .latency = latency};
  check_link(*this, link);
  links.push_back(link);
  return LinkId{static_cast<std::uint32_t>(links.size() - 1)};
}

LinkId Network::join(NodeId a, NodeId b, double bytes_per_second, double latency) {
  const LinkId there = add_link(a, b, bytes_per_second, latency);
  add_link(b, a, bytes_per_second, latency);
  return there;
}

std::optional<Rank> Network::rank_of(NodeId node) const {
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r] == node) return r;
  }
  return std::nullopt;
}

std::string Network::describe(LinkId link) const {
  return (*this)[(*this)[link].from].name + "→" + (*this)[(*this)[link].to].name;
}

void Network::check() const {
  if (ranks.empty()) reject("the network has no ranks");
  for (const Link& link : links) check_link(*this, link);
  check_names(*this);
  check_connected(*this);
}

}  // namespace tutti
