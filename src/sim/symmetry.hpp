#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

#include "sim/route_table.hpp"

namespace tutti {

/// A rotational symmetry of a schedule and a network: replacing every rank by the one `step`
/// further on, and the links accordingly, changes nothing. Since the fair rates are unique, these
/// ranks then do the same at the same time, and the first `step` ranks can be simulated for all.
struct Symmetry {
  std::uint32_t step = 1;
  /// Links that are mapped onto each other form a class. The capacity of each class.
  std::vector<double> capacities;
  /// The class of each link of the network; none if no route crosses it.
  std::vector<std::uint32_t> class_of;

  /// The route over classes from one of the first `step` ranks to another rank.
  [[nodiscard]] std::uint32_t route(std::uint32_t from, std::uint32_t to) const {
    return routes.at((std::uint64_t{from} << 32) | to);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> routes;

  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
};

/// Looks for the symmetry with the smallest step and adds its routes to `into`. Programs that one
/// rule generates for all ranks are compared for some ranks, other programs for all. A step above 1
/// is only looked for if there are many messages. `in_order`: see programs_turn().
[[nodiscard]] std::optional<Symmetry> find_symmetry(const ScheduleSource& source,
                                                    const Layout& layout, const Network& network,
                                                    RouteTable& routes, RouteTable& into,
                                                    bool in_order);

/// True if the program of every rank is that of the rank `step` before it, rotated. Compares all
/// ranks, or some if `sample`. If `in_order`, the operands of folds must be in the same order,
/// which decides between messages that compete for two ports or more. Requires: step divides the
/// number of ranks.
[[nodiscard]] bool programs_turn(const ScheduleSource& source, bool sample, std::uint32_t step = 1,
                                 bool in_order = false);

}  // namespace tutti
