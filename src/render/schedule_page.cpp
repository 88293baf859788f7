#include "render/schedule_page.hpp"

#include <algorithm>
#include <map>

#include "core/json_value.hpp"
#include "render/frame.hpp"
#include "render/player.hpp"
#include "render/schedule_legend.hpp"

namespace tutti::render {
namespace {

constexpr double margin = 4;

/// The page scales the picture to the width of the window; the minimum keeps few ranks from
/// becoming huge.
double stage_width(const Board& board) { return std::max(920.0, board.width() + 2 * margin); }

std::string stage(const Storyboard& story, const Caption& caption, const Board& board, Point corner,
                  const Legend& legend) {
  Svg svg(stage_width(board), corner.y + board.height(), caption.title,
          "What every rank holds, and the messages of the round.");
  legend.draw(svg, {margin, 0});
  draw_empty_boxes(svg, story, board, corner);
  for (const std::string_view layer : {"fills", "outlines", "words", "arrows", "chips"}) {
    svg.element("g", {{"id", layer}});
  }
  for (std::uint32_t r = 0; r < story.contract.ranks; ++r) svg.use(board.colour(r));
  svg.use("pale ink ink-line done-line outline thick adds adds-line copies copies-line line arrow");
  return svg.document();
}

Json places(const Storyboard& story, const Board& board, Point corner) {
  Json boxes = Json::array();
  for (std::uint32_t r = 0; r < story.contract.ranks; ++r) {
    for (std::uint64_t c = 0; c < story.contract.chunks; ++c) {
      const Point at = board.box(r, Chunk{c});
      boxes.push_back({at.x + corner.x, at.y + corner.y});
    }
  }
  return boxes;
}

/// For each round only the changes since the one before: [box, ranks, complete, words].
Json frames(const Storyboard& story, const Board& board) {
  Json all = Json::array();
  const std::uint64_t chunks = story.contract.chunks;
  for (std::size_t k = 0; k < story.holdings.size(); ++k) {
    Json changes = Json::array();
    for (std::uint32_t r = 0; r < story.contract.ranks; ++r) {
      for (std::uint64_t c = 0; c < chunks; ++c) {
        const Holding& now = story.holdings[k][r][c];
        const Holding before = k == 0 ? Holding{} : story.holdings[k - 1][r][c];
        if (now.ranks == before.ranks && now.complete == before.complete) continue;
        changes.push_back(
            {r * chunks + c, now.ranks, now.complete ? 1 : 0, board.words(now, Chunk{c})});
      }
    }
    all.push_back(std::move(changes));
  }
  return all;
}

Json messages(const Storyboard& story, const Board& board, Point corner) {
  Json rounds = Json::array();
  for (const auto& round : story.messages) {
    Json list = Json::array();
    for (const Message& message : round) {
      Json arrows = Json::array();
      for (const Board::Arrow& arrow : board.arrows(message, corner)) {
        arrows.push_back({arrow.line, arrow.head});
      }
      list.push_back({{"words", in_words(message, story.contract)},
                      {"adds", message.adds},
                      {"arrows", std::move(arrows)}});
    }
    rounds.push_back(std::move(list));
  }
  return rounds;
}

Json data(const Storyboard& story, const Board& board, Point corner) {
  Json headings = Json::array();
  for (std::uint32_t k = 0; k <= story.rounds(); ++k) headings.push_back(frame_heading(story, k));
  Json colours = Json::array();
  for (std::uint32_t r = 0; r < story.contract.ranks; ++r) colours.push_back(board.colour(r));
  return {{"ranks", story.contract.ranks},   {"striped", is_reduction(story.contract.collective)},
          {"words", board.has_words()},      {"width", board.box_width()},
          {"height", board.box_height()},    {"colours", std::move(colours)},
          {"headings", std::move(headings)}, {"boxes", places(story, board, corner)},
          {"frames", frames(story, board)},  {"messages", messages(story, board, corner)}};
}

/// JSON that does not contain the end tag of the script element around it.
std::string for_script(const Json& json) {
  std::string text = json_text(json);
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at)) {
    text.replace(at, 2, "<\\/");
  }
  return text;
}

/// Replaces every {name} of the text, but not within the replacements.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    result.append(text.substr(0, open));
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    result.append(values.at(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
  return result;
}

}  // namespace

std::string schedule_page(const Storyboard& story, const Caption& caption) {
  const Board board(story);
  const Legend legend = schedule_legend(story, board, stage_width(board) - 2 * margin);
  const Point corner{(stage_width(board) - board.width()) / 2, legend.height() + 10};
  std::string lines;
  for (const std::string& line : caption.lines) {
    lines += "<p class=\"caption\">" + escaped(line) + "</p>\n";
  }
  return filled(player_page(), {{"title", escaped(caption.title)},
                                {"style", std::string(player_style())},
                                {"caption", lines},
                                {"picture", stage(story, caption, board, corner, legend)},
                                {"story", for_script(data(story, board, corner))},
                                {"script", std::string(player_script())}});
}

}  // namespace tutti::render
