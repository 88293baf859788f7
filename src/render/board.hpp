#pragma once

#include <string>

#include "render/storyboard.hpp"
#include "render/svg.hpp"

namespace tutti::render {

/// Where things stand in the picture of one round: ranks side by side, each with a box for every
/// chunk, one below the other; in alltoall, which has a chunk for every pair, with a square of them
/// whose rows are sources and whose columns are destinations.
///
/// Arrows run above the boxes to the right and below them to the left, in lanes of their own in
/// which nothing else stands.
class Board {
 public:
  explicit Board(const Storyboard& story);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

  [[nodiscard]] double box_width() const { return box_width_; }
  [[nodiscard]] double box_height() const { return box_height_; }
  /// The upper left corner of a box.
  [[nodiscard]] Point box(Rank rank, Chunk chunk) const;
  /// The frame around all boxes of a rank; in alltoall only, where many of them stay empty.
  [[nodiscard]] Point square(Rank rank) const { return block(rank, 0); }
  [[nodiscard]] double square_width() const { return block_width(); }
  [[nodiscard]] double square_height() const { return block_height(); }
  /// Whether words fit into the boxes.
  [[nodiscard]] bool has_words() const { return words_; }
  [[nodiscard]] bool is_square() const { return square_; }

  /// What is written in a box; empty if nothing is held or there is no room.
  [[nodiscard]] std::string words(const Holding& holding, Chunk chunk) const;

  /// Which colour of ranks it is (see style.hpp): the ranks there are take all of them.
  [[nodiscard]] std::string colour(Rank rank) const;

  /// What is written around the boxes: who is who and which chunk is which.
  void draw_names(Svg& svg, Point corner) const;

  /// One arrow of a message: for each chunk, or for all of them where ranks are squares.
  struct Arrow {
    std::string line;
    std::string head;
  };
  [[nodiscard]] std::vector<Arrow> arrows(const Message& message, Point corner) const;

 private:
  void measure_columns();
  void measure_lanes(const Storyboard& story);
  [[nodiscard]] std::uint64_t rows() const { return square_ ? 1 : contract_.chunks; }
  /// What a row of arrows starts from: a box, or a square.
  [[nodiscard]] double block_width() const;
  [[nodiscard]] double block_height() const;
  [[nodiscard]] Point block(Rank rank, std::uint64_t row) const;
  [[nodiscard]] Arrow arrow(Rank from, Rank to, std::uint64_t row, Point corner) const;

  Contract contract_;
  bool square_;
  bool words_;
  double box_width_ = 0;
  double box_height_ = 0;
  double left_ = 0;   ///< What stands before the first column.
  double head_ = 0;   ///< What stands above the first lane.
  double gap_ = 0;    ///< Between columns.
  double above_ = 0;  ///< The lane above a row.
  double below_ = 0;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace tutti::render
