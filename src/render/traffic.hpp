#pragma once

#include <span>
#include <vector>

#include <tutti/network/routes.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

#include "render/network_drawing.hpp"

namespace tutti::render {

/// The traffic of every link in one run of the schedule. places[r] is the rank of the network on
/// which rank r runs; empty: rank r.
/// Throws invalid_argument if the network has fewer ranks than the schedule.
/// Requires: the layout has the chunks of the schedule; the routes are those of the network.
[[nodiscard]] std::vector<LinkTraffic> traffic_of(const Schedule& schedule, const Layout& layout,
                                                  const Network& network, Routes& routes,
                                                  std::span<const Rank> places = {});

}  // namespace tutti::render
