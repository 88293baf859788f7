#include "render/legend.hpp"

#include <algorithm>

namespace tutti::render {
namespace {

constexpr double size = 12;
constexpr double row_height = 22;
constexpr double gap = 14;

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

Legend::Legend(const Storyboard& story, const Board& board, double width) {
  const Contract& contract = story.contract;
  const bool sums = is_reduction(contract.collective);
  const double swatch = sums ? 9 : 14;
  const auto ranks = static_cast<double>(contract.ranks);
  const std::string last = letter(Rank{contract.ranks - 1});
  const std::string who = contract.ranks == 1 ? "rank 0 (a)"
                                              : "ranks 0 … " + std::to_string(contract.ranks - 1) +
                                                    " (a … " + last + ")";
  add(swatch * ranks, (sums ? "contributions of " : "from ") + who,
      [&board, swatch, count = contract.ranks](Svg& svg, Point at) {
        for (std::uint32_t r = 0; r < count; ++r) {
          svg.rect({at.x + r * swatch, at.y - 7}, swatch, 14, board.colour(Rank{r}));
        }
      });
  if (board.is_square()) {
    add(14, "rows are sources, columns destinations", [](Svg& svg, Point at) {
      svg.path(PathData().box({at.x, at.y - 7}, 7, 7).box({at.x + 7, at.y}, 7, 7).text(),
               "panel soft-line thin");
      svg.path(PathData().box({at.x + 7, at.y - 7}, 7, 7).box({at.x, at.y}, 7, 7).text(),
               "panel soft-line thin");
    });
  }
  if (any_message(story, true)) {
    add(22, "is added", [](Svg& svg, Point at) { draw_arrow(svg, at, "adds"); });
  }
  if (any_message(story, false)) {
    add(22, sums ? "takes the place of what was there" : "message",
        [](Svg& svg, Point at) { draw_arrow(svg, at, "copies"); });
  }
  add(22, "new", [](Svg& svg, Point at) {
    svg.rect({at.x, at.y - 7}, 22, 14, "panel ink-line outline");
  });
  add(22, "complete", [](Svg& svg, Point at) {
    svg.rect({at.x, at.y - 7}, 22, 14, "panel done-line outline thick");
  });
  place(width);
}

void Legend::add(double sign_width, std::string words, std::function<void(Svg&, Point)> sign) {
  entries_.push_back(
      {.sign = std::move(sign), .sign_width = sign_width, .words = std::move(words)});
}

void Legend::place(double width) {
  double x = 0;
  for (Entry& entry : entries_) {
    const double wide = entry.sign_width + 7 + text_width(entry.words, size);
    if (x > 0 && x + wide > width) {
      x = 0;
      ++rows_;
    }
    entry.at = {x, rows_ * row_height + row_height / 2};
    x += wide + gap;
  }
  ++rows_;
}

double Legend::height() const { return rows_ * row_height + 4; }

void Legend::draw(Svg& svg, Point corner) const {
  for (const Entry& entry : entries_) {
    const Point at{corner.x + entry.at.x, corner.y + entry.at.y};
    entry.sign(svg, at);
    svg.text({at.x + entry.sign_width + 7, at.y + size * 0.36}, entry.words,
             {.size = size, .style = "soft"});
  }
}

}  // namespace tutti::render
