#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

#include "sim/route_table.hpp"

namespace tutti {

/// A rotational symmetry of a schedule and a network: replacing every rank by the next one, and the
/// links accordingly, changes nothing. Since the fair rates are unique, all ranks then do the same
/// at the same time, and one of them can be simulated for all.
struct Symmetry {
  /// Links that are mapped onto each other form a class. The capacity of each class.
  std::vector<double> capacities;
  /// The class of each link of the network; none if no route crosses it.
  std::vector<std::uint32_t> class_of;
  /// The route over classes from a rank to the one `d` further on; 0 if unused.
  std::vector<std::uint32_t> route_by_distance;

  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
};

/// Looks for the symmetry and adds its routes to `into`. Programs that one rule generates for all
/// ranks are compared for some ranks, other programs for all.
[[nodiscard]] std::optional<Symmetry> find_symmetry(const ScheduleSource& source,
                                                    const Layout& layout, const Network& network,
                                                    RouteTable& routes, RouteTable& into);

/// True if the program of every rank is that of rank 0, rotated. Compares all ranks, or some if
/// `sample`.
[[nodiscard]] bool programs_turn(const ScheduleSource& source, bool sample);

}  // namespace tutti
