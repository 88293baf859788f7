#include "render/overlay.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::render {
namespace {

constexpr double head_length = 9;
constexpr double head_width = 4;
constexpr double label_size = 11;

double distance(Point a, Point b) { return std::hypot(b.x - a.x, b.y - a.y); }

Point towards(Point from, Point to, double length) {
  const double whole = std::max(distance(from, to), 1e-9);
  return {from.x + (to.x - from.x) / whole * length, from.y + (to.y - from.y) / whole * length};
}

}  // namespace

OverlayArc::OverlayArc(Point from, Point to, double clear, bool to_the_left) {
  const double length = std::max(distance(from, to), 1.0);
  const double bow = (0.22 * length + 10) * (to_the_left ? 1 : -1);
  const Point left{(to.y - from.y) / length, -(to.x - from.x) / length};
  over_ = {(from.x + to.x) / 2 + left.x * bow, (from.y + to.y) / 2 + left.y * bow};
  from_ = towards(from, over_, clear);
  to_ = towards(to, over_, clear);
  // A quadratic curve passes half way between the control point and the middle of its ends.
  middle_ = {(from_.x + 2 * over_.x + to_.x) / 4, (from_.y + 2 * over_.y + to_.y) / 4};
}

void OverlayArc::draw(Svg& svg) const {
  const Point neck = towards(to_, over_, head_length);
  svg.path(PathData().move(from_).bend(over_, neck).text(), "series-0-line line");
  const Point along{(to_.x - neck.x) / head_length, (to_.y - neck.y) / head_length};
  const Point side{-along.y * head_width, along.x * head_width};
  svg.path(PathData()
               .move(to_)
               .line({neck.x + side.x, neck.y + side.y})
               .line({neck.x - side.x, neck.y - side.y})
               .close()
               .text(),
           "series-0");
}

void OverlayArc::label(Svg& svg, std::uint32_t links) const {
  svg.text(
      {middle_.x, middle_.y + label_size * 0.36},
      std::to_string(links) + (links == 1 ? " link" : " links"),
      {.size = label_size, .style = "series-0 paper-line halo bold", .anchor = Anchor::middle});
}

}  // namespace tutti::render
