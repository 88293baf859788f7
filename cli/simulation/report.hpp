#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tutti/network/network.hpp>
#include <tutti/schedule/schedule_source.hpp>
#include <tutti/sim/simulation.hpp>
#include <tutti/sim/simulation_json.hpp>

#include "cli/simulation/case.hpp"
#include "core/json.hpp"

namespace tutti::cli {

/// One simulation and its subject.
struct SimReport {
  std::string name;
  Contract contract{};
  std::uint64_t size = 0;
  Simulation simulation{};
  SharesOfBounds shares{};
  std::string refusal{};  ///< Why it was not simulated; empty if it was.
};

/// "73.2 %", or "" where the bound is not known.
[[nodiscard]] std::string percent(std::optional<double> part);

/// As text: the time, the busiest links, and the parts of the critical path. `rules`: see
/// rules_text().
[[nodiscard]] std::string report_text(const SimReport& report, const Network& network,
                                      const std::string& rules);

/// The same and all details, as JSON, piece by piece. `rules`: see rules_json().
void write_report_json(const SimReport& report, const Network& network, const Json& rules,
                       const TextSink& sink);

}  // namespace tutti::cli
