#include "topology/generators/generators.hpp"

namespace tutti::generator {

// RailsRouter depends on the order of the links: host by host, first its ranks, then for each NIC
// the link to it and the link from it to the rail's switch.
Network multi_rail(const Arguments& arguments) {
  const wiring::Rails rails{.hosts = arguments.count("nodes"),
                            .ranks = arguments.count("gpus"),
                            .rails = arguments.count("nics")};
  check_size(std::uint64_t{rails.hosts} * rails.ranks);
  check_size(std::uint64_t{rails.hosts} * rails.rails);
  const double inside = arguments.rate("inside");
  const double inside_latency = arguments.time("inside_latency");
  const double outside = arguments.rate("outside");
  const double outside_latency = arguments.time("outside_latency");
  Network network;
  add_ranks(network, rails.hosts * rails.ranks);
  std::vector<NodeId> switches;
  for (std::uint32_t k = 0; k < rails.rails; ++k) {
    switches.push_back(network.add("rail" + std::to_string(k), NodeKind::switch_, 3));
  }
  for (std::uint32_t h = 0; h < rails.hosts; ++h) {
    const std::string name = "h" + std::to_string(h);
    const NodeId host = network.add(name, NodeKind::host, 1);
    for (std::uint32_t g = 0; g < rails.ranks; ++g) {
      network.join(network.ranks[h * rails.ranks + g], host, inside, inside_latency);
    }
    for (std::uint32_t k = 0; k < rails.rails; ++k) {
      const NodeId nic = network.add(name + ".n" + std::to_string(k), NodeKind::nic, 2);
      network.join(host, nic, outside, 0);
      network.join(nic, switches[k], outside, outside_latency);
    }
  }
  network.wiring = rails;
  return network;
}

}  // namespace tutti::generator
