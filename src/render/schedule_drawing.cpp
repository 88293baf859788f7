#include "render/schedule_drawing.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>

#include "render/frame.hpp"
#include "render/heading.hpp"
#include "render/schedule_legend.hpp"

namespace tutti::render {
namespace {

constexpr double margin = 20;
constexpr double widest_paper = 1640;
constexpr double narrowest_paper = 620;
constexpr double frame_gap = 34;

/// The arrangement of frames in rows.
struct Grid {
  double column = 0;  ///< Distance between frames.
  double row = 0;
  std::size_t columns = 1;

  [[nodiscard]] Point corner(std::size_t i, Point first) const {
    const std::size_t rows_before = i / columns;
    return {first.x + static_cast<double>(i % columns) * column,
            first.y + static_cast<double>(rows_before) * row};
  }
};

Grid grid_for(const Storyboard& story, const Board& board,
              const std::vector<std::uint32_t>& rounds) {
  double width = board.width();
  for (const std::uint32_t round : rounds) {
    width = std::max(width, text_width(frame_heading(story, round), 12, true));
  }
  Grid grid{.column = width + frame_gap, .row = frame_head + board.height() + 18};
  const double fit = std::floor((widest_paper - 2 * margin + frame_gap) / grid.column);
  grid.columns = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(fit, 1.0)), 1,
                                         std::max<std::size_t>(rounds.size(), 1));
  return grid;
}

}  // namespace

std::vector<std::uint32_t> usual_rounds(std::uint32_t rounds) {
  constexpr std::uint32_t few = 11;
  constexpr std::uint32_t at_ends = 4;
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t round = 0; round <= rounds; ++round) {
    const bool first = round < at_ends;
    const bool last = round + at_ends > rounds;
    const bool middle = round + 2 > rounds / 2 && round <= rounds / 2 + 1;
    if (rounds <= few || first || last || middle) chosen.push_back(round);
  }
  return chosen;
}

std::string draw_schedule(const Storyboard& story, const Caption& caption,
                          const std::vector<std::uint32_t>& rounds) {
  for (const std::uint32_t round : rounds) {
    if (round > story.rounds()) {
      throw Error(ErrorCode::invalid_argument, "there is no round " + std::to_string(round) +
                                                   ": '" + caption.title + "' has " +
                                                   std::to_string(story.rounds()));
    }
  }
  const Board board(story);
  const Grid grid = grid_for(story, board, rounds);
  const double frames = static_cast<double>(grid.columns) * grid.column - frame_gap + 2 * margin;
  const double width = std::max(narrowest_paper, frames);
  const Heading heading(caption, width - 2 * margin);
  const Legend legend = schedule_legend(story, board, width - 2 * margin);
  const std::size_t rows = (rounds.size() + grid.columns - 1) / grid.columns;
  const Point first{margin, margin + heading.height() + legend.height() + 18};
  Svg svg(width, first.y + static_cast<double>(rows) * grid.row + margin - 18, caption.title,
          heading.description());
  heading.draw(svg, {margin, margin});
  legend.draw(svg, {margin, margin + heading.height()});
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    draw_frame(svg, story, board, rounds[i], grid.corner(i, first));
  }
  return svg.document();
}

}  // namespace tutti::render
