#pragma once

#include <cstdint>
#include <span>

#include "synthesis/pace.hpp"
#include "synthesis/rank_graph.hpp"
#include "synthesis/transfers.hpp"

namespace tutti::synthesis {

/// The data of one origin, and how it is divided.
struct Portion {
  double bytes = 0;
  std::uint32_t trees = 1;  ///< Out of each root, weights counted.
  /// Chunks per tree; 0: as many as make the predicted time short.
  std::uint32_t pieces = 0;
  /// A reduction: pieces go up the trees, from the lower end of each edge to the upper one. The
  /// result is its dual, a distribution.
  bool reduces = false;
  double best_seconds = 0;  ///< No more pieces once the time is within half a percent of this.
};

/// Moves the data along trees in a pipeline: every tree carries its share in pieces, and an edge
/// sends one piece at a time, first the one with the longest way still to go. Origins are the roots
/// of the trees, in the order of their chunks.
[[nodiscard]] Distribution pipeline(const RankGraph& graph, std::span<const Tree> trees,
                                    const Portion& portion, const Pace& pace);

}  // namespace tutti::synthesis
