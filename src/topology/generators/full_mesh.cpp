#include <tutti/error.hpp>

#include "topology/generators/generators.hpp"

namespace tutti::generator {

Network full_mesh(const Arguments& arguments) {
  const std::uint32_t p = arguments.count("p");
  constexpr std::uint32_t most = 4096;
  if (p > most) {
    throw Error(ErrorCode::invalid_argument, "a full mesh of " + std::to_string(p) +
                                                 " ranks has too many links: use at most " +
                                                 std::to_string(most) + " ranks, or a star");
  }
  Network network;
  add_ranks(network, p);
  network.links.reserve(std::size_t{p} * (p - 1));
  link_all(network, network.ranks, arguments.rate("bandwidth"), arguments.time("latency"));
  network.wiring = wiring::FullMesh{};
  return network;
}

}  // namespace tutti::generator
