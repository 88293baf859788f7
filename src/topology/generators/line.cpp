#include "topology/generators/generators.hpp"

namespace tutti::generator {

Network line(const Arguments& arguments) {
  const std::uint32_t p = arguments.count("p");
  Network network;
  add_ranks(network, p);
  wire_torus(network, {p}, arguments.rate("bandwidth"), arguments.time("latency"), false);
  return network;
}

}  // namespace tutti::generator
