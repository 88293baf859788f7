#pragma once

#include <vector>

#include <tutti/shape.hpp>

#include "render/hop_graph.hpp"
#include "render/svg.hpp"

namespace tutti::render {

/// Where the nodes of a graph of hops are drawn: a ring as a ring, a tree as a tree, the ranks of a
/// shape on a grid, everything else on a circle.
struct HopLayout {
  enum class Kind { ring, tree, grid, circle };

  Kind kind = Kind::circle;
  std::vector<Point> places{};  ///< By node, from {0, 0}.
  double width = 0;
  double height = 0;
  double radius = 10;  ///< Of a node.
};

/// `root` is that of a tree. A shape whose size is the number of nodes makes a grid, unless the
/// graph is a ring or a tree.
[[nodiscard]] HopLayout hop_layout(const HopGraph& graph, std::uint32_t root, const Shape& shape);

/// True if the hops, without their directions, are a tree that reaches every node.
[[nodiscard]] bool is_tree(const HopGraph& graph);

}  // namespace tutti::render
