#include "render/marker.hpp"

#include <array>
#include <vector>

namespace tutti::render {

void draw_marker(Svg& svg, std::size_t which, Point centre, std::string_view style) {
  constexpr double r = 3.4;
  // After the circle: square, triangle, diamond, inverted triangle.
  static const std::array<std::vector<Point>, 4> corners{{
      {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
      {{0, -1.2}, {1.15, 0.85}, {-1.15, 0.85}},
      {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
      {{0, 1.2}, {1.15, -0.85}, {-1.15, -0.85}},
  }};
  const std::size_t shape = which % (corners.size() + 1);
  if (shape == 0) {
    svg.circle(centre, r, style);
    return;
  }
  PathData outline;
  for (const Point& corner : corners.at(shape - 1)) {
    const Point to{centre.x + r * corner.x, centre.y + r * corner.y};
    outline.empty() ? outline.move(to) : outline.line(to);
  }
  svg.path(outline.close().text(), style);
}

}  // namespace tutti::render
