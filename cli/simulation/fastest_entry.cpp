#include "cli/simulation/fastest_entry.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <tutti/error.hpp>

#include "cli/console/progress.hpp"
#include "cli/simulation/case.hpp"
#include "cli/simulation/entry.hpp"
#include "core/workers.hpp"

namespace tutti::cli {
namespace {

/// All algorithms of a collective, in every shape, for all ranks of a network.
std::vector<SimEntry> entries_on(const Network& network, Collective collective, Rank root) {
  const std::uint32_t ranks = network.rank_count();
  std::vector<SimEntry> entries;
  for (const Algorithm* each : algorithms_named(std::string(name(collective)))) {
    std::vector<Shape> shapes{{}};
    if (each->needs_shape()) shapes = shapes_on(network, ranks, {}, true);
    for (const Shape& shape : shapes) {
      SimEntry entry{.algorithm = each, .problem = {.ranks = ranks, .root = root, .shape = shape}};
      if (each->refusal(entry.problem).empty()) entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

std::optional<FastestEntry> fastest_entry(const Network& network, Collective collective, Rank root,
                                          std::uint64_t size, const SimulationSettings& settings) {
  const std::vector<SimEntry> entries = entries_on(network, collective, root);
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> seconds(entries.size(), never);
  Progress progress("simulating the table", entries.size());
  in_parallel(entries.size(), [&](std::size_t i) {
    const ScheduleSource source = source_of(*entries[i].algorithm, entries[i].problem);
    Routes routes(network);
    try {
      seconds[i] =
          simulate(network, routes, source, even_layout(source.contract, size), settings).seconds;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
    }
    progress.advance();
  });
  const auto best = std::min_element(seconds.begin(), seconds.end());
  if (best == seconds.end() || *best == never) return {};
  return FastestEntry{
      .entry = entries[static_cast<std::size_t>(best - seconds.begin())],
      .seconds = *best,
      .refused = static_cast<std::size_t>(std::count(seconds.begin(), seconds.end(), never))};
}

}  // namespace tutti::cli
