#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti {

/// Writes a simulation as JSON: times in seconds, links by the names of their ends.
/// docs/simulator.md describes the format.
[[nodiscard]] TUTTI_API std::string to_json(const Simulation& simulation, const Network& network);

/// Writes the activities and the busiest links of a simulation in the Chrome trace format, which
/// Perfetto opens. Each rank has one track, or several where its activities overlap.
/// Requires: SimulationSettings::records was set. Links are shown if `intervals` was set.
[[nodiscard]] TUTTI_API std::string to_chrome_trace(const Simulation& simulation,
                                                    const Network& network);

}  // namespace tutti
