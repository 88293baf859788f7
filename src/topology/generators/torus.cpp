#include "topology/generators/generators.hpp"

namespace tutti::generator {

void wire_torus(Network& network, std::vector<std::uint32_t> dimensions, double bytes_per_second,
                double latency, bool wraps) {
  std::uint32_t stride = 1;
  for (const std::uint32_t size : dimensions) {
    // In a dimension of two ranks both directions lead to the same neighbour: one wire, not two.
    const std::uint32_t wires = wraps && size > 2 ? size : size - 1;
    for (std::uint32_t r = 0; r < network.rank_count(); ++r) {
      const std::uint32_t at = r / stride % size;
      if (at >= wires) continue;
      const std::uint32_t next = at + 1 < size ? r + stride : r - at * stride;
      network.join(network.ranks[r], network.ranks[next], bytes_per_second, latency);
    }
    stride *= size;
  }
  network.ranks_forward = true;
  network.wiring = wiring::Torus{.dimensions = std::move(dimensions), .wraps = wraps};
}

namespace {

Network on_grid(const Arguments& arguments, bool wraps) {
  const std::vector<std::uint32_t> dimensions = arguments.factors("dimensions");
  std::uint32_t count = 1;
  for (const std::uint32_t size : dimensions) count *= size;
  Network network;
  add_ranks(network, count);
  network.links.reserve(2 * dimensions.size() * count);
  wire_torus(network, dimensions, arguments.rate("bandwidth"), arguments.time("latency"), wraps);
  return network;
}

}  // namespace

Network torus(const Arguments& arguments) { return on_grid(arguments, true); }

Network grid(const Arguments& arguments) { return on_grid(arguments, false); }

}  // namespace tutti::generator
