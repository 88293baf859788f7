#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tutti/network/network.hpp>

#include "render/caption.hpp"

namespace tutti::render {

/// What a directed link carries, and for whom.
struct LinkTraffic {
  double bytes = 0;
  /// Pairs of ranks whose messages go over it.
  std::vector<std::pair<Rank, Rank>> pairs{};
};

/// Networks of more nodes than this are no longer read by anybody.
inline constexpr std::size_t most_drawn_nodes = 400;

/// Throws unsupported if the network is too large to be drawn. Callers that would have to work out
/// its traffic first ask before they do.
void require_drawable(const Network& network);

/// A network as an SVG document. How busy a link is, is seen by its colour and width: how long it
/// takes for what it carries, beside the busiest. Each direction of a link has a line of its own,
/// on the right-hand side of the way. Without traffic, the network alone is drawn.
/// Throws unsupported if the network is too large to be seen.
/// Requires: `traffic` is empty or has an entry for every link.
[[nodiscard]] std::string draw_network(const Network& network,
                                       const std::vector<LinkTraffic>& traffic,
                                       const Caption& caption);

}  // namespace tutti::render
