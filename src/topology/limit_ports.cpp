#include "topology/limit_ports.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "topology/adjacency.hpp"

namespace tutti {
namespace {

/// The sum of the `ports` largest.
double fastest(std::vector<double> rates, std::uint32_t ports) {
  const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(ports, rates.size()));
  std::partial_sort(rates.begin(), rates.begin() + count, rates.end(), std::greater<>());
  return std::accumulate(rates.begin(), rates.begin() + count, 0.0);
}

std::vector<double> rates_of(const Network& network, const Adjacency& links, NodeId node) {
  std::vector<double> rates;
  for (const Adjacency::Edge& edge : links.of(node)) {
    rates.push_back(network[edge.link].bytes_per_second);
  }
  return rates;
}

}  // namespace

Network limit_ports(const Network& network, std::uint32_t ports) {
  Network limited = network;
  if (ports == 0) return limited;
  const Adjacency leaving(network, Adjacency::Direction::leaving);
  const Adjacency arriving(network, Adjacency::Direction::arriving);
  for (NodeId& rank : limited.ranks) {
    const NodeId moved = rank;
    const std::vector<double> out = rates_of(network, leaving, moved);
    const std::vector<double> in = rates_of(network, arriving, moved);
    if (std::max(out.size(), in.size()) <= ports) continue;
    // Its node becomes the switch, so that all links stay valid.
    Node& node = limited.nodes[moved.index()];
    rank = NodeId{static_cast<std::uint32_t>(limited.nodes.size())};
    Node at_port{.name = node.name, .kind = NodeKind::rank, .level = node.level};
    node.name += "'s links";
    node.kind = NodeKind::switch_;
    limited.nodes.push_back(std::move(at_port));
    if (!out.empty()) limited.add_link(rank, moved, fastest(out, ports), 0);
    if (!in.empty()) limited.add_link(moved, rank, fastest(in, ports), 0);
  }
  if (limited.nodes.size() != network.nodes.size()) {
    limited.wiring = {};
    limited.own_routes.clear();
  }
  return limited;
}

}  // namespace tutti
