#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti {

/// Takes a text piece by piece.
using TextSink = std::function<void(std::string_view)>;

/// Writes a simulation as JSON: times in seconds, links by the names of their ends.
/// docs/simulator.md describes the format. The text of a large simulation is never in memory as a
/// whole. `members`: members to write before the others, such as "\"size\": 8", or empty.
TUTTI_API void write_json(const Simulation& simulation, const Network& network,
                          const TextSink& sink, std::string_view members = {});

/// The same as one text.
[[nodiscard]] TUTTI_API std::string to_json(const Simulation& simulation, const Network& network);

/// Writes the activities and the busiest links of a simulation in the Chrome trace format, which
/// Perfetto opens. Each rank has one track, or several where its activities overlap.
/// Requires: SimulationSettings::records was set. Links are shown if `intervals` was set.
[[nodiscard]] TUTTI_API std::string to_chrome_trace(const Simulation& simulation,
                                                    const Network& network);

}  // namespace tutti
