#include "cli/picture/underlay.hpp"

#include <algorithm>
#include <cctype>

#include <tutti/sim/simulation.hpp>

#include "cli/simulation/places.hpp"
#include "cli/simulation/rules.hpp"
#include "core/quantity.hpp"
#include "render/network_drawing.hpp"
#include "render/scale.hpp"
#include "render/timeline.hpp"
#include "render/traffic.hpp"

namespace tutti::cli {
namespace {

std::string in_bytes(double bytes) { return render::in_words(render::Measure::bytes, bytes); }

std::string in_time(double seconds) { return render::in_words(render::Measure::seconds, seconds); }

std::string title(const DrawnSchedule& drawn, std::uint64_t size, const Network& network) {
  return drawn.caption.title + ", " + in_bytes(static_cast<double>(size)) + " on " + network.name;
}

/// How evenly the links are used.
std::string spread(const std::vector<render::LinkTraffic>& traffic) {
  double most = 0;
  double all = 0;
  std::uint64_t used = 0;
  for (const render::LinkTraffic& each : traffic) {
    most = std::max(most, each.bytes);
    all += each.bytes;
    used += each.bytes > 0 ? 1 : 0;
  }
  const double mean = used > 0 ? all / static_cast<double>(used) : 0;
  return std::to_string(used) + " of " + std::to_string(traffic.size()) +
         " links are used; the busiest carries " + in_bytes(most) + ", those in use " +
         in_bytes(mean) + " on average.";
}

/// The parts of the critical path.
std::string critical(const Simulation& simulation) {
  std::uint64_t messages = 0;
  std::uint64_t sums = 0;
  double lost = 0;
  for (const Activity& each : simulation.critical_path) {
    ++(each.kind == Activity::Kind::message ? messages : sums);
    lost += each.end - each.begin - each.alone;
  }
  std::string text = "The critical path has " + std::to_string(messages) +
                     (messages == 1 ? " message" : " messages") + " and " + std::to_string(sums) +
                     (sums == 1 ? " sum" : " sums");
  constexpr double rounding = 1e-9;
  if (lost <= simulation.seconds * rounding) return text + "; none of them shares a link.";
  return text + "; they lose " + in_time(lost) + " to others on their links.";
}

}  // namespace

std::string draw_load(const DrawnSchedule& drawn, const Network& network,
                      const UnderlayOptions& options) {
  const std::uint64_t size = parse_bytes(options.size);
  const Layout layout = even_layout(drawn.schedule.contract, size);
  Routes routes(network, {.policy = parse_route_policy(options.routes)});
  const std::vector<render::LinkTraffic> traffic =
      render::traffic_of(drawn.schedule, layout, network, routes,
                         parse_places(options.place, drawn.schedule.contract.ranks, network));
  const std::string how = "The load of every link by " + std::string(name(routes.policy())) +
                          " routes. Each direction of a link is drawn on its right side.";
  return render::draw_network(
      network, traffic, {.title = title(drawn, size, network), .lines = {how, spread(traffic)}});
}

std::string draw_timeline(const DrawnSchedule& drawn, const Network& network,
                          const UnderlayOptions& options) {
  const std::uint64_t size = parse_bytes(options.size);
  constexpr std::uint32_t intervals = 200;
  Routes routes(network, {.policy = parse_route_policy(options.routes)});
  const SimulationSettings settings{
      .alpha = parse_seconds(options.alpha),
      .gamma = parse_seconds_per_byte(options.gamma),
      .ports = options.ports,
      .places = parse_places(options.place, drawn.schedule.contract.ranks, network),
      .symmetry = false,
      .records = true,
      .intervals = intervals};
  const Simulation simulation = simulate(network, routes, source_of(drawn.schedule),
                                         even_layout(drawn.schedule.contract, size), settings);
  std::string model = rules_text(settings, routes.policy()) + ".";
  model.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(model.front())));
  return render::draw_timeline(
      simulation, network,
      {.title = title(drawn, size, network) + ": " + in_time(simulation.seconds),
       .lines = {model, critical(simulation)}});
}

}  // namespace tutti::cli
