#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/rank.hpp>

#include "render/svg.hpp"

/// The hops of an overlay, drawn as arcs over the network that carries them.
namespace tutti::render {

/// A hop of an overlay, and the number of links of its path.
struct OverlayHop {
  Rank from{};
  Rank to{};
  std::uint32_t links = 0;
};

/// The curve of a hop between two nodes.
class OverlayArc {
 public:
  /// Bows to the left of its direction, so that hops there and back stay apart, or to the right.
  /// `clear` is the distance from the centres of the nodes at which it begins and ends.
  OverlayArc(Point from, Point to, double clear, bool to_the_left);

  void draw(Svg& svg) const;
  /// Draws the number of links in the middle of the curve.
  void label(Svg& svg, std::uint32_t links) const;
  /// The point of the curve that is farthest from the straight line.
  [[nodiscard]] Point middle() const { return middle_; }

 private:
  Point from_;
  Point over_;
  Point to_;
  Point middle_;
};

}  // namespace tutti::render
