#include "cli/simulation/entry.hpp"

#include <algorithm>

#include "select/natural_shapes.hpp"

namespace tutti::cli {

std::string SimEntry::name() const {
  const std::string shape = algorithm->needs_shape() ? " " + to_string(problem.shape) : "";
  return std::string(algorithm->name) + shape;
}

std::vector<Shape> shapes_on(const Network& network, std::uint32_t ranks,
                             std::span<const Rank> places, bool every) {
  std::vector<Shape> shapes;
  if (!places.empty() || ranks == network.rank_count()) {
    shapes = natural_shapes(network, {places.begin(), places.end()});
  }
  if (!every) return shapes;
  for (Shape& each : shapes_of_two(ranks)) {
    if (std::find(shapes.begin(), shapes.end(), each) == shapes.end()) {
      shapes.push_back(std::move(each));
    }
  }
  return shapes;
}

}  // namespace tutti::cli
