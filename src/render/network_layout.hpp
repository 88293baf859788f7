#pragma once

#include <vector>

#include <tutti/network/network.hpp>

#include "render/svg.hpp"

namespace tutti::render {

/// The positions of nodes and links. The distance between two nodes is at least about 1.
struct NetworkLayout {
  std::vector<Point> nodes;
  /// The offset of a link's middle from the straight line: a wrap-around link bends around the
  /// nodes between its ends.
  std::vector<Point> bends;
};

/// Lays out a network by its wiring: tori as grids, Clos networks in levels, rings, stars and
/// meshes as circles, dragonflies in groups, hypercubes as nested cubes; all others by a
/// force-directed layout.
[[nodiscard]] NetworkLayout lay_out(const Network& network);

}  // namespace tutti::render
