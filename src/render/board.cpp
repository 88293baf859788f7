#include "render/board.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "render/style.hpp"

namespace tutti::render {
namespace {

constexpr double name_size = 11;
constexpr double word_size = 11;
constexpr std::uint32_t most_with_words = 8;
constexpr std::uint32_t most_squares_with_words = 4;
constexpr double row_gap = 4;
constexpr std::uint32_t most_terms = 4;

bool goes_right(const Message& message) { return message.from < message.to; }

}  // namespace

Board::Board(const Storyboard& story)
    : contract_(story.contract),
      square_(contract_.collective == Collective::alltoall),
      words_(contract_.ranks <= (square_ ? most_squares_with_words : most_with_words)) {
  measure_columns();
  measure_lanes(story);
  const auto ranks = static_cast<double>(contract_.ranks);
  width_ = left_ + ranks * block_width() + (ranks - 1) * gap_;
  height_ = head_ + static_cast<double>(rows()) * (above_ + block_height() + below_ + row_gap);
}

void Board::measure_columns() {
  gap_ = words_ ? 14 : 8;
  if (square_) {
    box_width_ = words_ ? 25 : contract_.ranks <= most_with_words ? 12 : 6;
    box_height_ = words_ ? 20 : box_width_;
  } else if (!words_) {
    box_width_ = 2.0 * contract_.ranks;
    box_height_ = 14;
  } else {
    const std::uint32_t terms = std::min(contract_.ranks, most_terms);
    std::string longest = is_reduction(contract_.collective) ? "m" : "mm";
    for (std::uint32_t i = 1; i < terms && is_reduction(contract_.collective); ++i) longest += "+m";
    box_width_ = std::max(30.0, std::ceil(text_width(longest, word_size)) + 6);
    box_height_ = 20;
  }
  const std::string last = square_ ? "" : "chunk " + std::to_string(contract_.chunks - 1);
  left_ = square_ ? 4 : std::ceil(text_width(last, name_size)) + 8;
  head_ = name_size + 7;
}

void Board::measure_lanes(const Storyboard& story) {
  bool right = false;
  bool left = false;
  for (const auto& round : story.messages) {
    for (const Message& message : round) (goes_right(message) ? right : left) = true;
  }
  const double lane = rows() <= 2 ? 34 : rows() <= 4 ? 16 : rows() <= 8 ? 11 : 8;
  above_ = right ? lane : 0;
  below_ = left ? lane : 0;
}

double Board::block_width() const { return square_ ? box_width_ * contract_.ranks : box_width_; }

double Board::block_height() const { return square_ ? box_height_ * contract_.ranks : box_height_; }

Point Board::block(Rank rank, std::uint64_t row) const {
  return {left_ + rank * (block_width() + gap_),
          head_ + above_ + static_cast<double>(row) * (above_ + block_height() + below_ + row_gap)};
}

Point Board::box(Rank rank, Chunk chunk) const {
  if (!square_) return block(rank, chunk.index());
  const Point corner = block(rank, 0);
  const std::uint64_t row = chunk.index() / contract_.ranks;
  const std::uint64_t column = chunk.index() % contract_.ranks;
  return {corner.x + static_cast<double>(column) * box_width_,
          corner.y + static_cast<double>(row) * box_height_};
}

std::string Board::words(const Holding& holding, Chunk chunk) const {
  if (!words_ || holding.ranks == 0) return "";
  if (square_) {
    const auto from = static_cast<std::uint32_t>(chunk.index() / contract_.ranks);
    return letter(from) + std::to_string(chunk.index() % contract_.ranks);
  }
  const auto terms = static_cast<std::uint32_t>(std::popcount(holding.ranks));
  if (terms > 1 && terms == contract_.ranks) return "Σ";
  if (terms > most_terms) return std::to_string(terms) + " of " + std::to_string(contract_.ranks);
  std::string text;
  for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
    if ((holding.ranks >> r & 1U) != 0) text += (text.empty() ? "" : "+") + letter(r);
  }
  return text;
}

std::string Board::colour(Rank rank) const {
  const std::size_t last = std::max(1U, contract_.ranks - 1);
  return "rank-" + std::to_string(rank * (rank_colours - 1) / last);
}

void Board::draw_names(Svg& svg, Point corner) const {
  for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
    const double middle = corner.x + block(r, 0).x + block_width() / 2;
    const std::string name = std::to_string(r);
    svg.text({middle, corner.y + name_size}, words_ ? name + " · " + letter(r) : name,
             {.size = name_size, .style = "soft", .anchor = Anchor::middle});
  }
  for (std::uint64_t c = 0; c < (square_ ? 0 : contract_.chunks); ++c) {
    const double middle = corner.y + block(Rank{0}, c).y + box_height_ / 2;
    svg.text({corner.x + left_ - 8, middle + name_size * 0.36}, "chunk " + std::to_string(c),
             {.size = name_size, .style = "soft", .anchor = Anchor::end});
  }
}

std::vector<Board::Arrow> Board::arrows(const Message& message, Point corner) const {
  std::vector<Arrow> found;
  if (square_) return {arrow(message.from, message.to, 0, corner)};
  for (const ChunkRange& range : message.chunks) {
    for (std::uint64_t i = 0; i < range.count; ++i) {
      found.push_back(arrow(message.from, message.to, range.first.index() + i, corner));
    }
  }
  return found;
}

/// The arrow starts and ends vertically, so that its head points at the box. Longer arrows rise
/// higher.
Board::Arrow Board::arrow(Rank from, Rank to, std::uint64_t row, Point corner) const {
  const bool right = from < to;
  const Point first = block(from, row);
  const Point last = block(to, row);
  // The arrow starts past the middle of its box and ends before the middle of the other, so that
  // incoming and outgoing arrows on the same side stay apart.
  constexpr double aside = 0.3;
  const double lean = (right ? aside : -aside) * block_width() / 2;
  const double side = right ? -1 : 1;
  const double edge = corner.y + first.y + (right ? 0 : block_height());
  const Point start{corner.x + first.x + block_width() / 2 + lean, edge};
  const Point end{corner.x + last.x + block_width() / 2 - lean, edge};
  const double distance = std::abs(static_cast<double>(to) - from);
  const double lane = right ? above_ : below_;
  const double farthest = std::max(1.0, contract_.ranks - 1.0);
  const double rise = (lane - 2) * (0.45 + 0.55 * distance / farthest) * 4 / 3;
  const double head = std::min(5.0, lane / 2);
  const double half = head * 0.62;
  return {.line = PathData()
                      .move(start)
                      .curve({start.x, edge + side * rise}, {end.x, edge + side * rise},
                             {end.x, edge + side * head * 0.8})
                      .text(),
          .head = PathData()
                      .move(end)
                      .line({end.x - half, edge + side * head})
                      .line({end.x + half, edge + side * head})
                      .close()
                      .text()};
}

}  // namespace tutti::render
