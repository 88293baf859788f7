#pragma once

#include <cstddef>
#include <string_view>

#include "render/svg.hpp"

namespace tutti::render {

/// A small symbol at a point of a line. Consecutive numbers have different shapes, so that lines
/// can be told apart without colours.
void draw_marker(Svg& svg, std::size_t which, Point centre, std::string_view style);

}  // namespace tutti::render
