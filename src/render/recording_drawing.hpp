#pragma once

#include <string>

#include "render/recording.hpp"

namespace tutti::render {

/// Draws a recording over time as an SVG document: a bar for each span, with its name if there is
/// room. Spans of the kinds "idle" and "bubble" are grey. Spans of a row that overlap are drawn
/// below each other. Throws unsupported if there are too many rows or spans to draw.
[[nodiscard]] std::string draw_recording(const Recording& recording);

}  // namespace tutti::render
