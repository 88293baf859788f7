#pragma once

#include <cstdint>
#include <string>

#include <tutti/network/routes.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/sim/simulation.hpp>

#include "core/json.hpp"

namespace tutti::cli {

/// "one message in and out of a rank at once"
[[nodiscard]] std::string ports_in_words(std::uint32_t ports);
/// The ports of the formulas, which know no links that are shared.
[[nodiscard]] std::string ports_in_words(Ports ports);

/// "sums take no time", or their rate.
[[nodiscard]] std::string gamma_in_words(double gamma);

/// The assumptions of a simulation on which its time depends: ports, order, routes and γ. "one
/// message in and out of a rank at once; dimension_order routes; sums take no time"
[[nodiscard]] std::string rules_text(const SimulationSettings& settings, RoutePolicy routes);

/// The same for JSON: {"ports": 0, "order": "in_order", "routes": "up_down", "gamma": 0, "alpha":
/// 0}. 0 ports stand for any number; with one port all messages are in order.
[[nodiscard]] Json rules_json(const SimulationSettings& settings, RoutePolicy routes);

}  // namespace tutti::cli
