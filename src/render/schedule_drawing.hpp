#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/caption.hpp"
#include "render/storyboard.hpp"

namespace tutti::render {

/// The rounds that a drawing shows unless told otherwise: all if they are few, else the first, the
/// last and those in the middle. 0 is the start.
[[nodiscard]] std::vector<std::uint32_t> usual_rounds(std::uint32_t rounds);

/// A picture for each of these rounds, as one SVG document: what every rank holds after it, and the
/// arrows of its messages. Throws invalid_argument for a round that the story has not.
[[nodiscard]] std::string draw_schedule(const Storyboard& story, const Caption& caption,
                                        const std::vector<std::uint32_t>& rounds);

}  // namespace tutti::render
