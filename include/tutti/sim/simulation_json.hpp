#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti {

/// What a simulation tells, as JSON: times in seconds, links by the names of their ends. The format
/// is described in docs/simulator.md.
[[nodiscard]] TUTTI_API std::string to_json(const Simulation& simulation, const Network& network);

/// The activities and the busiest links of a simulation in the format of Chrome's tracing, which
/// Perfetto opens: a track for each rank, and more where it does several things at once.
/// Requires: the simulation has records; links are shown if it has intervals.
[[nodiscard]] TUTTI_API std::string to_chrome_trace(const Simulation& simulation,
                                                    const Network& network);

}  // namespace tutti
