#pragma once

#include <vector>

#include <tutti/network/network.hpp>

#include "render/svg.hpp"

namespace tutti::render {

/// Where the parts of a network stand. No two nodes are nearer to each other than about 1.
struct NetworkLayout {
  std::vector<Point> nodes;
  /// By how much a link's middle is off the straight line: links that close a circle go round the
  /// nodes between their ends.
  std::vector<Point> bends;
};

/// Lays a network out by what is known of its wiring: tori on grids, Clos networks in levels,
/// rings, stars and meshes on circles, dragonflies in groups, hypercubes as cubes of cubes; what
/// else there is by springs.
[[nodiscard]] NetworkLayout lay_out(const Network& network);

}  // namespace tutti::render
