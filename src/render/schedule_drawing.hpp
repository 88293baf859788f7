#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/caption.hpp"
#include "render/storyboard.hpp"

namespace tutti::render {

/// The rounds that a drawing shows by default: all if they are few, otherwise the first, the middle
/// and the last ones. 0 is the start.
[[nodiscard]] std::vector<std::uint32_t> usual_rounds(std::uint32_t rounds);

/// Draws one picture per round as one SVG document: what every rank holds after it, and arrows for
/// its messages. Throws invalid_argument for a round out of range.
[[nodiscard]] std::string draw_schedule(const Storyboard& story, const Caption& caption,
                                        const std::vector<std::uint32_t>& rounds);

}  // namespace tutti::render
