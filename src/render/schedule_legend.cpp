#include "render/schedule_legend.hpp"

#include <algorithm>

namespace tutti::render {
namespace {

bool any_message(const Storyboard& story, bool adds) {
  return std::any_of(story.messages.begin(), story.messages.end(), [&](const auto& round) {
    return std::any_of(round.begin(), round.end(),
                       [&](const Message& message) { return message.adds == adds; });
  });
}

void draw_arrow(Svg& svg, Point at, const std::string& colour) {
  constexpr double length = 22;
  svg.line(at, {at.x + length - 4, at.y}, colour + "-line line arrow");
  svg.path(PathData()
               .move({at.x + length, at.y})
               .line({at.x + length - 6, at.y - 4})
               .line({at.x + length - 6, at.y + 4})
               .close()
               .text(),
           colour);
}

}  // namespace

Legend schedule_legend(const Storyboard& story, const Board& board, double width) {
  Legend legend(width);
  const Contract& contract = story.contract;
  const bool sums = is_reduction(contract.collective);
  const double swatch = sums ? 9 : 14;
  const auto ranks = static_cast<double>(contract.ranks);
  const std::string last = letter(contract.ranks - 1);
  const std::string names =
      contract.ranks == 1
          ? "rank 0 (a)"
          : "ranks 0 … " + std::to_string(contract.ranks - 1) + " (a … " + last + ")";
  legend.add(swatch * ranks, (sums ? "contributions of " : "from ") + names,
             [&board, swatch, count = contract.ranks](Svg& svg, Point at) {
               for (std::uint32_t r = 0; r < count; ++r) {
                 svg.rect({at.x + r * swatch, at.y - 7}, swatch, 14, board.colour(r));
               }
             });
  if (board.is_square()) {
    legend.add(14, "rows are sources, columns destinations", [](Svg& svg, Point at) {
      svg.path(PathData().box({at.x, at.y - 7}, 7, 7).box({at.x + 7, at.y}, 7, 7).text(),
               "panel soft-line thin");
      svg.path(PathData().box({at.x + 7, at.y - 7}, 7, 7).box({at.x, at.y}, 7, 7).text(),
               "panel soft-line thin");
    });
  }
  if (any_message(story, true)) {
    legend.add(22, "is added", [](Svg& svg, Point at) { draw_arrow(svg, at, "adds"); });
  }
  if (any_message(story, false)) {
    legend.add(22, sums ? "takes the place of what was there" : "message",
               [](Svg& svg, Point at) { draw_arrow(svg, at, "copies"); });
  }
  legend.add(22, "new", [](Svg& svg, Point at) {
    svg.rect({at.x, at.y - 7}, 22, 14, "panel ink-line outline");
  });
  legend.add(22, "complete", [](Svg& svg, Point at) {
    svg.rect({at.x, at.y - 7}, 22, 14, "panel done-line outline thick");
  });
  return legend;
}

}  // namespace tutti::render
