#pragma once

#include <string>

#include <tutti/network/network.hpp>
#include <tutti/sim/simulation.hpp>

#include "render/caption.hpp"

namespace tutti::render {

/// More than this is no longer read by anybody.
inline constexpr std::size_t most_drawn_activities = 6000;
inline constexpr std::size_t most_drawn_rows = 64;

/// Throws unsupported if so many ranks are too many to be drawn. Callers that would have to
/// simulate them first ask before they do.
void require_drawable(std::size_t ranks);

/// A simulation over time, as an SVG document: a row for each rank with its messages and sums as
/// bars, the chain that everything waits for marked and joined, and below how busy the busiest
/// links are. The pale end of a bar is what a message lost to others on its links.
/// Throws unsupported if it is too large to be seen.
/// Requires: the simulation has records; those of intervals are drawn if there are any.
[[nodiscard]] std::string draw_timeline(const Simulation& simulation, const Network& network,
                                        const Caption& caption);

}  // namespace tutti::render
