#pragma once

#include "render/board.hpp"

namespace tutti::render {

/// How high frame_heading() is, and how far below it the board begins.
inline constexpr double frame_head = 24;

/// "start", or "round 2 of 6: 4 messages".
[[nodiscard]] std::string frame_heading(const Storyboard& story, std::uint32_t rounds_done);

/// Draws what is held after so many rounds, and the messages of the last of them.
void draw_frame(Svg& svg, const Storyboard& story, const Board& board, std::uint32_t rounds_done,
                Point corner);

/// The boxes without what is in them, and the names around them.
void draw_empty_boxes(Svg& svg, const Storyboard& story, const Board& board, Point corner);

/// What a message is told as: "0 → 1: chunk 2, added".
[[nodiscard]] std::string in_words(const Message& message, const Contract& contract);

}  // namespace tutti::render
