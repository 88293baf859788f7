#pragma once

#include <string>

#include <tutti/network/routes.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti::cli {

/// "one message in and out of a rank at once"
[[nodiscard]] std::string ports_in_words(std::uint32_t ports);

/// "sums take no time", or their rate.
[[nodiscard]] std::string gamma_in_words(double gamma);

/// The assumptions of a simulation on which its time depends: ports, order, routes and γ. "one
/// message in and out of a rank at once; dimension_order routes; sums take no time"
[[nodiscard]] std::string rules_text(const SimulationSettings& settings, RoutePolicy routes);

}  // namespace tutti::cli
