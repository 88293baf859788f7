#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "render/svg.hpp"

namespace tutti::render {

/// Force-directed layout: edges attract, all nodes repel each other (Fruchterman and Reingold,
/// "Graph drawing by force-directed placement", 1991). Deterministic. The distance between two
/// nodes is at least 1.
[[nodiscard]] std::vector<Point> relax(
    std::size_t nodes, const std::vector<std::pair<std::size_t, std::size_t>>& edges);

}  // namespace tutti::render
