#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tutti/network/network.hpp>

#include "render/caption.hpp"
#include "render/overlay.hpp"

namespace tutti::render {

/// The traffic of a directed link.
struct LinkTraffic {
  double bytes = 0;
  /// Pairs of ranks whose messages go over it.
  std::vector<std::pair<Rank, Rank>> pairs{};
};

/// Larger networks are unreadable.
inline constexpr std::size_t most_drawn_nodes = 400;

/// Throws unsupported if the network is too large to draw. Lets a caller check before it computes
/// the traffic.
void require_drawable(const Network& network);

/// Draws a network as an SVG document. The colour and width of a link show its load: the seconds it
/// needs for its bytes, relative to the busiest link. Each direction of a link has its own line, on
/// the right-hand side. Without traffic only the network is drawn.
/// Throws unsupported if the network is too large to draw.
/// Requires: `traffic` is empty or has an entry for every link.
[[nodiscard]] std::string draw_network(const Network& network,
                                       const std::vector<LinkTraffic>& traffic,
                                       const Caption& caption);

/// The same with the hops of an overlay as arcs, each with the number of its links. The load of a
/// link is the number of hops that cross it, `crossings`, and ranks have the names of the network.
[[nodiscard]] std::string draw_overlay(const Network& network, const std::vector<OverlayHop>& hops,
                                       const std::vector<std::uint32_t>& crossings,
                                       const Caption& caption);

}  // namespace tutti::render
