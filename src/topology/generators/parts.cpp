#include <tutti/error.hpp>

#include "topology/generators/generators.hpp"

namespace tutti::generator {

void check_size(std::uint64_t count) {
  constexpr std::uint64_t most = 1 << 24;
  if (count > most) {
    throw Error(ErrorCode::invalid_argument, "the network would have " + std::to_string(count) +
                                                 " parts of one kind: use at most " +
                                                 std::to_string(most));
  }
}

void add_ranks(Network& network, std::uint32_t count) {
  network.nodes.reserve(network.nodes.size() + count);
  for (std::uint32_t r = 0; r < count; ++r) {
    network.add("r" + std::to_string(r), NodeKind::rank);
  }
}

void link_all(Network& network, const std::vector<NodeId>& nodes, double bytes_per_second,
              double latency) {
  for (const NodeId from : nodes) {
    for (const NodeId to : nodes) {
      if (from != to) network.add_link(from, to, bytes_per_second, latency);
    }
  }
}

}  // namespace tutti::generator
