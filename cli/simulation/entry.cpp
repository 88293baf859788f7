#include "cli/simulation/entry.hpp"

#include <algorithm>
#include <limits>

#include <tutti/error.hpp>

#include "cli/simulation/case.hpp"
#include "core/workers.hpp"
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

std::optional<FastestEntry> fastest_entry(const Network& network, Collective collective, Rank root,
                                          std::uint64_t size, const SimulationSettings& settings) {
  std::vector<SimEntry> entries;
  for (const Algorithm* each : algorithms_named(std::string(name(collective)))) {
    const Problem usual{.ranks = network.rank_count(), .root = root};
    std::vector<Shape> shapes{{}};
    if (each->needs_shape()) shapes = shapes_on(network, usual.ranks, {}, true);
    for (const Shape& shape : shapes) {
      SimEntry entry{.algorithm = each, .problem = usual};
      entry.problem.shape = shape;
      if (each->refusal(entry.problem).empty()) entries.push_back(std::move(entry));
    }
  }
  std::vector<double> seconds(entries.size(), std::numeric_limits<double>::infinity());
  in_parallel(entries.size(), [&](std::size_t i) {
    const ScheduleSource source = source_of(*entries[i].algorithm, entries[i].problem);
    Routes routes(network);
    try {
      seconds[i] =
          simulate(network, routes, source, even_layout(source.contract, size), settings).seconds;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
    }
  });
  const auto best = std::min_element(seconds.begin(), seconds.end());
  if (best == seconds.end() || *best == std::numeric_limits<double>::infinity()) return {};
  return FastestEntry{.name = entries[static_cast<std::size_t>(best - seconds.begin())].name(),
                      .seconds = *best};
}

}  // namespace tutti::cli
