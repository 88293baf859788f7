#include "render/traffic.hpp"

#include <set>

#include "sim/link_load.hpp"

namespace tutti::render {

std::vector<LinkTraffic> traffic_of(const Schedule& schedule, const Layout& layout,
                                    const Network& network, Routes& routes,
                                    std::span<const Rank> places) {
  const auto place = [&](Rank rank) { return places.empty() ? rank : places[rank]; };
  std::vector<LinkTraffic> traffic;
  for (const LinkLoad& load : link_loads(schedule, layout, network, routes, places)) {
    traffic.push_back({.bytes = static_cast<double>(load.bytes)});
  }
  std::set<std::pair<Rank, Rank>> pairs;
  for (const Hop& hop : hops_of(schedule)) pairs.emplace(hop.from, hop.to);
  for (const auto& [from, to] : pairs) {
    for (const LinkId link : routes.between(place(from), place(to))) {
      traffic[link.index()].pairs.emplace_back(from, to);
    }
  }
  return traffic;
}

}  // namespace tutti::render
