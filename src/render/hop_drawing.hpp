#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/schedule/schedule.hpp>
#include <tutti/shape.hpp>

#include "render/caption.hpp"

namespace tutti::render {

/// How the hops of a schedule are drawn.
struct HopPicture {
  Shape shape{};  ///< Of the ranks, if the algorithm has one.
  /// The rounds to draw, one picture each; empty: one picture of all rounds together.
  std::vector<std::uint32_t> rounds{};
  /// Ranks whose messages are drawn, the others are pale; empty: all.
  std::vector<std::uint32_t> zoom{};
  /// Ranks that are drawn as one node; 0: as few as give at most 64 nodes.
  std::uint32_t fold = 0;
};

/// Draws who sends to whom, with as many ranks as a schedule has: each line is a pair, as wide as
/// it carries data, in the colour of what happens to the data. Throws invalid_argument for a round
/// or a rank that does not exist.
[[nodiscard]] std::string draw_hops(const Schedule& schedule, const Caption& caption,
                                    const HopPicture& picture);

}  // namespace tutti::render
