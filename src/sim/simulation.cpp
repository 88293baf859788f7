#include <algorithm>
#include <optional>
#include <string>

#include <tutti/error.hpp>
#include <tutti/sim/simulation.hpp>

#include "core/reject.hpp"
#include "sim/critical_path.hpp"
#include "sim/effort_estimate.hpp"
#include "sim/event_loop.hpp"
#include "sim/route_table.hpp"
#include "sim/slices.hpp"
#include "sim/symmetry.hpp"
#include "sim/workload.hpp"

namespace tutti {
namespace {

void check_places(const Network& network, const ScheduleSource& source,
                  const std::vector<Rank>& places) {
  const std::uint32_t p = source.contract.ranks;
  if (places.empty() && p > network.rank_count()) {
    reject(source.name + " is for " + std::to_string(p) + " ranks, but " + network.name + " has " +
           std::to_string(network.rank_count()) + "; use fewer ranks, or a larger network");
  }
  if (!places.empty() && places.size() != p) {
    reject("there are places for " + std::to_string(places.size()) + " ranks, but " + source.name +
           " has " + std::to_string(p) + "; give each rank a place");
  }
  for (const Rank place : places) {
    if (place >= network.rank_count()) {
      reject("a rank is placed on rank " + std::to_string(place) + " of " + network.name +
             ", which has " + std::to_string(network.rank_count()) + "; ranks count from 0");
    }
  }
}

void check(const Network& network, const ScheduleSource& source, const Layout& layout,
           const SimulationSettings& settings) {
  check_places(network, source, settings.places);
  if (layout.chunks() != source.contract.chunks) {
    reject("the layout has " + std::to_string(layout.chunks()) + " chunks, but " + source.name +
           " has " + std::to_string(source.contract.chunks) + "; use even_layout()");
  }
  const bool sound = settings.alpha >= 0 && settings.gamma >= 0 && settings.noise >= 0;
  if (!sound) reject("alpha, gamma and noise must not be negative");
}

std::vector<double> capacities_of(const Network& network) {
  std::vector<double> capacities;
  capacities.reserve(network.links.size());
  for (const Link& link : network.links) capacities.push_back(link.bytes_per_second);
  return capacities;
}

EventLoop::Progress scaled(const SimulationProgress& progress, const Workload& workload,
                           std::uint64_t copies) {
  if (!progress) return {};
  return [&progress, copies, total = workload.messages.size()](std::uint64_t arrived) {
    progress(arrived * copies, total * copies);
  };
}

std::vector<Activity> all_activities(const Workload& workload, const EventLoop& loop) {
  std::vector<Activity> activities;
  activities.reserve(workload.messages.size());
  for (std::uint32_t i = 0; i < workload.messages.size(); ++i) {
    activities.push_back(activity_of_message(workload, loop, i));
  }
  for (std::uint32_t i = 0; i < workload.folds.size(); ++i) {
    if (loop.time_to_add(i) > 0) activities.push_back(activity_of_sum(workload, loop, i));
  }
  std::stable_sort(activities.begin(), activities.end(),
                   [](const Activity& a, const Activity& b) { return a.begin < b.begin; });
  return activities;
}

std::vector<LinkUse> spread(const std::vector<LinkUse>& classes, const Symmetry& symmetry) {
  std::vector<LinkUse> uses;
  uses.reserve(symmetry.class_of.size());
  for (const std::uint32_t of_class : symmetry.class_of) {
    uses.push_back(of_class == Symmetry::none ? LinkUse{} : classes[of_class]);
  }
  return uses;
}

Simulation simulate_one_for_all(const ScheduleSource& source, const Layout& layout,
                                const Symmetry& symmetry, const RouteTable& routes,
                                const SimulationSettings& settings,
                                const SimulationProgress& progress) {
  const std::uint32_t p = source.contract.ranks;
  const std::uint32_t copies = p / symmetry.step;
  std::vector<std::uint32_t> receivers;
  const auto route_of = [&](std::uint32_t from, std::uint32_t to) {
    return symmetry.route(from, to);
  };
  Workload workload = Workload::of_first_ranks(source, layout, symmetry.step, route_of,
                                               settings.slice > 0, receivers);
  EventLoop loop(workload, routes, symmetry.capacities, settings, receivers);
  loop.run(source.name, scaled(progress, workload, copies));
  Simulation simulation;
  simulation.seconds = loop.end();
  simulation.messages = std::uint64_t{copies} * workload.messages.size();
  simulation.bytes = loop.bytes() * copies;
  simulation.finished.reserve(p);
  for (std::uint32_t r = 0; r < p; ++r) {
    simulation.finished.push_back(loop.finished()[r % symmetry.step]);
  }
  simulation.links = spread(loop.meter().uses(), symmetry);
  simulation.critical_path = critical_path(workload, loop, receivers, p);
  simulation.utilisation = loop.meter().series(loop.end());
  simulation.utilisation.row_of = symmetry.class_of;
  simulation.simulated_ranks = symmetry.step;
  simulation.by_symmetry = true;
  return simulation;
}

Simulation simulate_all(const ScheduleSource& source, const Layout& layout,
                        std::vector<double> capacities, RouteTable& routes,
                        const SimulationSettings& settings, const SimulationProgress& progress) {
  Workload workload(source, layout, routes, settings.slice > 0);
  EventLoop loop(workload, routes, std::move(capacities), settings);
  loop.run(source.name, scaled(progress, workload, 1));
  Simulation simulation;
  simulation.seconds = loop.end();
  simulation.messages = workload.messages.size();
  simulation.bytes = loop.bytes();
  simulation.simulated_ranks = source.contract.ranks;
  simulation.finished = loop.finished();
  simulation.links = loop.meter().uses();
  simulation.critical_path = critical_path(workload, loop, {}, 0);
  simulation.utilisation = loop.meter().series(loop.end());
  if (settings.records) simulation.activities = all_activities(workload, loop);
  return simulation;
}

Simulation simulate_whole_chunks(const Network& network, Routes& routes,
                                 const ScheduleSource& source, const Layout& layout,
                                 const SimulationSettings& settings,
                                 const SimulationProgress& progress) {
  // Noise and records need every rank to be simulated.
  if (settings.symmetry && settings.noise == 0 && !settings.records) {
    RouteTable all(network, routes, settings.places);
    RouteTable of_one(network, routes, settings.places);
    if (const auto symmetry =
            find_symmetry(source, layout, network, all, of_one, settings.ports > 1)) {
      return simulate_one_for_all(source, layout, *symmetry, of_one, settings, progress);
    }
  }
  require_room(source, settings.memory);
  RouteTable table(network, routes, settings.places);
  return simulate_all(source, layout, capacities_of(network), table, settings, progress);
}

}  // namespace

Simulation simulate(const Network& network, Routes& routes, const ScheduleSource& source,
                    const Layout& layout, const SimulationSettings& settings,
                    const SimulationProgress& progress) {
  check(network, source, layout, settings);
  if (settings.slice == 0) {
    return simulate_whole_chunks(network, routes, source, layout, settings, progress);
  }
  const Slices slices = cut_into_slices(source, layout, settings.slice);
  return simulate_whole_chunks(network, routes, slices.source, slices.layout, settings, progress);
}

}  // namespace tutti
