#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "synthesis/rank_graph.hpp"

namespace tutti::synthesis {

/// Trees for a torus whose edges all have the same capacity: `trees` shortest-path trees out of
/// rank 0, and the same moved to every other root. If the trees of rank 0 together take each
/// direction at most as often as an edge has capacity, then no edge of the torus is in more trees
/// than its capacity. Which rank is reached in which direction is one maximum flow. No value if
/// there are no such trees, or if the graph is not a torus.
[[nodiscard]] std::optional<std::vector<Tree>> translated_trees(
    const RankGraph& graph, std::span<const std::uint32_t> dimensions, std::uint32_t trees);

}  // namespace tutti::synthesis
