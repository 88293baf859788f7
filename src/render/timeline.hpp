#pragma once

#include <string>

#include <tutti/network/network.hpp>
#include <tutti/sim/simulation.hpp>

#include "render/caption.hpp"

namespace tutti::render {

/// Larger drawings are unreadable. A ring of 64 ranks has 12,096 messages and sums.
inline constexpr std::size_t most_drawn_activities = 13000;
inline constexpr std::size_t most_drawn_rows = 64;

/// Throws unsupported for too many ranks. Lets a caller check before it simulates.
void require_drawable(std::size_t ranks);

/// Draws a simulation over time as an SVG document: a row for each rank with its messages and
/// reductions as bars, the critical path marked, and below it the utilisation of the busiest links.
/// The pale end of a bar is the time that a message lost to contention.
/// Throws unsupported if it is too large to draw.
/// Requires: the simulation has records. Links are drawn if it has intervals.
[[nodiscard]] std::string draw_timeline(const Simulation& simulation, const Network& network,
                                        const Caption& caption);

}  // namespace tutti::render
