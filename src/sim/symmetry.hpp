#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

#include "sim/route_table.hpp"

namespace tutti {

/// A schedule and a network that look the same from every rank: if every rank is called by the
/// number of the next, and links by those of the links in their place, nothing has changed. As
/// there is one fair assignment of rates, all ranks then do the same at the same time for ever, and
/// one of them can be simulated for all.
struct Symmetry {
  /// Links that take each other's place are one link here; how much each of them can carry.
  std::vector<double> capacities;
  /// Which of those a link of the network is; none if no route crosses it.
  std::vector<std::uint32_t> class_of;
  /// The route from a rank to the one `d` further on, over those; 0 where none is used.
  std::vector<std::uint32_t> route_by_distance;

  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
};

/// Looks for the symmetry and puts its routes into `into`. Programs that one rule makes for all
/// ranks are compared at some of them, others at all.
[[nodiscard]] std::optional<Symmetry> find_symmetry(const ScheduleSource& source,
                                                    const Layout& layout, const Network& network,
                                                    RouteTable& routes, RouteTable& into);

/// Whether all ranks' programs are that of rank 0, turned. Every rank is looked at, or, if
/// `sample`, some.
[[nodiscard]] bool programs_turn(const ScheduleSource& source, bool sample);

}  // namespace tutti
