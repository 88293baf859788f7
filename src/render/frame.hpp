#pragma once

#include "render/board.hpp"

namespace tutti::render {

/// The height of frame_heading(), below which the board begins.
inline constexpr double frame_head = 24;

/// "start", or "round 2 of 6: 4 messages".
[[nodiscard]] std::string frame_heading(const Storyboard& story, std::uint32_t rounds_done);

/// Draws the state after `rounds_done` rounds and the messages of the last of them.
void draw_frame(Svg& svg, const Storyboard& story, const Board& board, std::uint32_t rounds_done,
                Point corner);

/// Draws the boxes without contents, and the labels around them.
void draw_empty_boxes(Svg& svg, const Storyboard& story, const Board& board, Point corner);

/// Describes a message: "0 → 1: chunk 2, added".
[[nodiscard]] std::string in_words(const Message& message, const Contract& contract);

}  // namespace tutti::render
