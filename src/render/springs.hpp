#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "render/svg.hpp"

namespace tutti::render {

/// Lays out a graph of which nothing else is known: joined nodes pull each other near, all push
/// each other away (Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991).
/// The same graph gives the same picture. No two nodes end nearer to each other than 1.
[[nodiscard]] std::vector<Point> relax(
    std::size_t nodes, const std::vector<std::pair<std::size_t, std::size_t>>& edges);

}  // namespace tutti::render
