#include "topology/generators/generators.hpp"

namespace tutti::generator {

Network star(const Arguments& arguments) {
  const std::uint32_t p = arguments.count("p");
  const double bandwidth = arguments.rate("bandwidth");
  const double latency = arguments.time("latency");
  Network network;
  network.links.reserve(std::size_t{2} * p);
  add_ranks(network, p);
  const NodeId hub = network.add("s0", NodeKind::switch_, 1);
  for (const NodeId rank : network.ranks) network.join(rank, hub, bandwidth, latency);
  return network;
}

}  // namespace tutti::generator
