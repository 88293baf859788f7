#include "render/frame.hpp"

namespace tutti::render {
namespace {

constexpr double heading_size = 12;
constexpr double word_size = 11;

template <class Visit>
void for_each_box(const Contract& contract, Visit visit) {
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    for (std::uint64_t c = 0; c < contract.chunks; ++c) visit(r, Chunk{c});
  }
}

Point moved(Point point, Point by) { return {point.x + by.x, point.y + by.y}; }

/// Draws one path per rank for all its contributions; `part` selects the contributions of a
/// holding.
template <class Part>
void draw_contributions(Svg& svg, const Storyboard& story, const Board& board,
                        std::uint32_t rounds_done, Point corner, const std::string& style,
                        Part part) {
  const Contract& contract = story.contract;
  const bool striped = is_reduction(contract.collective);
  const double width = striped ? board.box_width() / contract.ranks : board.box_width();
  for (std::uint32_t from = 0; from < contract.ranks; ++from) {
    PathData data;
    for_each_box(contract, [&](Rank rank, Chunk chunk) {
      const Holding& held = story.holdings[rounds_done][rank][chunk.index()];
      if ((part(held) >> from & 1U) == 0) return;
      Point at = moved(board.box(rank, chunk), corner);
      if (striped) at.x += width * from;
      data.box(at, width, board.box_height());
    });
    if (!data.empty()) svg.path(data.text(), board.colour(from) + style);
  }
}

void draw_outlines(Svg& svg, const Storyboard& story, const Board& board, std::uint32_t rounds_done,
                   Point corner) {
  PathData complete;
  PathData fresh;
  for_each_box(story.contract, [&](Rank rank, Chunk chunk) {
    const Holding& held = story.holdings[rounds_done][rank][chunk.index()];
    const Point at = moved(board.box(rank, chunk), corner);
    if (held.complete) {
      complete.box(at, board.box_width(), board.box_height());
    } else if (held.fresh != 0) {
      fresh.box(at, board.box_width(), board.box_height());
    }
  });
  if (!fresh.empty()) svg.path(fresh.text(), "ink-line outline");
  if (!complete.empty()) svg.path(complete.text(), "done-line outline thick");
}

void draw_words(Svg& svg, const Storyboard& story, const Board& board, std::uint32_t rounds_done,
                Point corner) {
  for_each_box(story.contract, [&](Rank rank, Chunk chunk) {
    const Holding& held = story.holdings[rounds_done][rank][chunk.index()];
    const std::string words = board.words(held, chunk);
    if (words.empty()) return;
    const Point at = moved(board.box(rank, chunk), corner);
    svg.text({at.x + board.box_width() / 2, at.y + board.box_height() / 2 + word_size * 0.36},
             words, {.size = word_size, .style = "ink", .anchor = Anchor::middle});
  });
}

void draw_messages(Svg& svg, const Storyboard& story, const Board& board,
                   const std::vector<Message>& messages, Point corner) {
  for (const Message& message : messages) {
    const std::string colour = message.adds ? "adds" : "copies";
    svg.begin("g", {{"class", "message"}});
    svg.tooltip(in_words(message, story.contract));
    std::string line;
    std::string head;
    for (const Board::Arrow& arrow : board.arrows(message, corner)) {
      line += arrow.line;
      head += arrow.head;
    }
    svg.path(line, colour + "-line line arrow");
    svg.path(head, colour);
    svg.end();
  }
}

}  // namespace

std::string frame_heading(const Storyboard& story, std::uint32_t rounds_done) {
  if (rounds_done == 0) return "start";
  const std::size_t count = story.messages[rounds_done - 1].size();
  return "round " + std::to_string(rounds_done) + " of " + std::to_string(story.rounds()) + ": " +
         std::to_string(count) + (count == 1 ? " message" : " messages");
}

void draw_empty_boxes(Svg& svg, const Storyboard& story, const Board& board, Point corner) {
  board.draw_names(svg, corner);
  PathData boxes;
  for_each_box(story.contract, [&](Rank rank, Chunk chunk) {
    if (!story.ever_held(rank, chunk)) return;
    boxes.box(moved(board.box(rank, chunk), corner), board.box_width(), board.box_height());
  });
  if (!boxes.empty()) svg.path(boxes.text(), "panel faint-line thin");
  if (!board.is_square()) return;
  PathData squares;
  for (std::uint32_t r = 0; r < story.contract.ranks; ++r) {
    squares.box(moved(board.square(r), corner), board.square_width(), board.square_height());
  }
  svg.path(squares.text(), "soft-line outline");
}

void draw_frame(Svg& svg, const Storyboard& story, const Board& board, std::uint32_t rounds_done,
                Point corner) {
  svg.begin("g", {{"class", "frame"}});
  svg.text({corner.x, corner.y + heading_size}, frame_heading(story, rounds_done),
           {.size = heading_size, .style = "ink bold"});
  const Point inner{corner.x, corner.y + frame_head};
  draw_empty_boxes(svg, story, board, inner);
  // Under text, colours stay pale, and the outline marks new contributions.
  const std::string fresh_style = board.has_words() ? " pale" : "";
  draw_contributions(svg, story, board, rounds_done, inner, " pale",
                     [](const Holding& held) { return held.ranks & ~held.fresh; });
  draw_contributions(svg, story, board, rounds_done, inner, fresh_style,
                     [](const Holding& held) { return held.fresh; });
  draw_outlines(svg, story, board, rounds_done, inner);
  draw_words(svg, story, board, rounds_done, inner);
  if (rounds_done > 0) draw_messages(svg, story, board, story.messages[rounds_done - 1], inner);
  svg.end();
}

std::string in_words(const Message& message, const Contract& contract) {
  std::string text = std::to_string(message.from) + " → " + std::to_string(message.to) + ": " +
                     in_words(message.chunks);
  if (is_reduction(contract.collective)) {
    text += message.adds ? ", added" : ", copied";
  }
  return text;
}

}  // namespace tutti::render
