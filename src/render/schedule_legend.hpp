#pragma once

#include "render/board.hpp"
#include "render/legend.hpp"

namespace tutti::render {

/// The legend of the drawing of a schedule. The board must outlive it.
[[nodiscard]] Legend schedule_legend(const Storyboard& story, const Board& board, double width);

}  // namespace tutti::render
