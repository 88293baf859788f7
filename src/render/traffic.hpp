#pragma once

#include <vector>

#include <tutti/network/routes.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

#include "render/network_drawing.hpp"

namespace tutti::render {

/// What every link carries when the schedule is run once, rank r at the network's rank r.
/// Throws invalid_argument if the network has fewer ranks than the schedule.
/// Requires: the layout has the schedule's chunks; the routes are the network's.
[[nodiscard]] std::vector<LinkTraffic> traffic_of(const Schedule& schedule, const Layout& layout,
                                                  const Network& network, Routes& routes);

}  // namespace tutti::render
