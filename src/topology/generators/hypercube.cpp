#include <tutti/error.hpp>

#include "topology/generators/generators.hpp"

namespace tutti::generator {

Network hypercube(const Arguments& arguments) {
  const std::uint32_t d = arguments.count("d");
  constexpr std::uint32_t most = 20;
  if (d > most) {
    throw Error(ErrorCode::invalid_argument, "a hypercube of " + std::to_string(d) +
                                                 " dimensions has too many ranks: use at most " +
                                                 std::to_string(most) + " dimensions");
  }
  Network network;
  add_ranks(network, std::uint32_t{1} << d);
  wire_torus(network, std::vector<std::uint32_t>(d, 2), arguments.rate("bandwidth"),
             arguments.time("latency"));
  return network;
}

}  // namespace tutti::generator
