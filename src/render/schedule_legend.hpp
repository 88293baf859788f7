#pragma once

#include "render/board.hpp"
#include "render/legend.hpp"

namespace tutti::render {

/// What the colours, arrows and outlines of a schedule's drawing mean. The board must outlive it.
[[nodiscard]] Legend schedule_legend(const Storyboard& story, const Board& board, double width);

}  // namespace tutti::render
