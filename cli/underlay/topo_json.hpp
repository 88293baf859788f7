#pragma once

#include <string>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/network/ring_order.hpp>
#include <tutti/network/stretch.hpp>

#include "cli/simulation/known_optimum.hpp"
#include "sim/link_load.hpp"

/// What `tutti topo` prints, as JSON.
namespace tutti::cli {

[[nodiscard]] std::string generators_json();
[[nodiscard]] std::string network_report_json(const Network& network, const Stretch& ring,
                                              const KnownOptimum& known);
/// `loads` has an entry for every link; those that carry nothing are left out.
[[nodiscard]] std::string stretch_json(const Network& network, const Stretch& found,
                                       const std::vector<LinkLoad>& loads);
/// `network` is null for an order from measurements.
[[nodiscard]] std::string order_json(const RingOrder& found, const Network* network);

}  // namespace tutti::cli
