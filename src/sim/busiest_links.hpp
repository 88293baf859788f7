#pragma once

#include <cstddef>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti {

/// A link and its utilisation.
struct BusyLink {
  LinkId link{};
  LinkUse use{};
  double utilisation = 0;  ///< Share of its bandwidth over the whole time: 0 … 1.
};

/// At most `count` links, by falling utilisation; without links that carried nothing.
[[nodiscard]] TUTTI_API std::vector<BusyLink> busiest_links(const Simulation& simulation,
                                                            const Network& network,
                                                            std::size_t count);

}  // namespace tutti
