#include "topology/generators/generators.hpp"

namespace tutti::generator {

Network server(const Arguments& arguments) {
  const std::uint32_t p = arguments.count("p");
  const std::uint32_t hosts = arguments.count("hosts");
  check_size(std::uint64_t{p} * hosts);
  const double inside = arguments.rate("inside");
  const double inside_latency = arguments.time("inside_latency");
  const double outside = arguments.rate("outside");
  const double outside_latency = arguments.time("outside_latency");
  Network network;
  add_ranks(network, p * hosts);
  std::vector<NodeId> nics;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    const std::string name = "h" + std::to_string(h);
    const NodeId host = network.add(name, NodeKind::host, 1);
    for (std::uint32_t r = 0; r < p; ++r) {
      network.join(network.ranks[h * p + r], host, inside, inside_latency);
    }
    nics.push_back(network.add(name + ".n0", NodeKind::nic, 2));
    network.join(host, nics.back(), outside, 0);
  }
  if (hosts == 1) return network;
  const NodeId hub = network.add("s0", NodeKind::switch_, 3);
  for (const NodeId nic : nics) network.join(nic, hub, outside, outside_latency);
  return network;
}

}  // namespace tutti::generator
