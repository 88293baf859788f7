#include "topology/generators/generators.hpp"

namespace tutti::generator {

void add_ranks(Network& network, std::uint32_t count) {
  network.nodes.reserve(network.nodes.size() + count);
  for (std::uint32_t r = 0; r < count; ++r) {
    network.add("r" + std::to_string(r), NodeKind::rank);
  }
}

}  // namespace tutti::generator
