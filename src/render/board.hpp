#pragma once

#include <string>

#include "render/storyboard.hpp"
#include "render/svg.hpp"

namespace tutti::render {

/// The layout of the picture of one round. Ranks are columns, each with one box per chunk. In
/// alltoall, which has a chunk per pair of ranks, each rank is a square of boxes: rows are sources,
/// columns are destinations.
///
/// Arrows to the right run above the boxes, arrows to the left below them, in lanes that hold
/// nothing else.
class Board {
 public:
  explicit Board(const Storyboard& story);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

  [[nodiscard]] double box_width() const { return box_width_; }
  [[nodiscard]] double box_height() const { return box_height_; }
  /// The upper left corner of a box.
  [[nodiscard]] Point box(Rank rank, Chunk chunk) const;
  /// The frame around all boxes of a rank. Only for alltoall, where many boxes stay empty.
  [[nodiscard]] Point square(Rank rank) const { return block(rank, 0); }
  [[nodiscard]] double square_width() const { return block_width(); }
  [[nodiscard]] double square_height() const { return block_height(); }
  /// True if text fits into the boxes.
  [[nodiscard]] bool has_words() const { return words_; }
  [[nodiscard]] bool is_square() const { return square_; }

  /// The text of a box; empty if nothing is held or the text does not fit.
  [[nodiscard]] std::string words(const Holding& holding, Chunk chunk) const;

  /// The colour class of a rank (see style.hpp). The ranks are spread over all colours.
  [[nodiscard]] std::string colour(Rank rank) const;

  /// Draws the labels of ranks and chunks around the boxes.
  void draw_names(Svg& svg, Point corner) const;

  /// One arrow of a message: one per chunk, or one for all chunks if ranks are squares.
  struct Arrow {
    std::string line;
    std::string head;
  };
  [[nodiscard]] std::vector<Arrow> arrows(const Message& message, Point corner) const;

 private:
  void measure_columns();
  void measure_lanes(const Storyboard& story);
  [[nodiscard]] std::uint64_t rows() const { return square_ ? 1 : contract_.chunks; }
  /// The size of the shape at which arrows start: a box, or a square.
  [[nodiscard]] double block_width() const;
  [[nodiscard]] double block_height() const;
  [[nodiscard]] Point block(Rank rank, std::uint64_t row) const;
  [[nodiscard]] Arrow arrow(Rank from, Rank to, std::uint64_t row, Point corner) const;

  Contract contract_;
  bool square_;
  bool words_;
  double box_width_ = 0;
  double box_height_ = 0;
  double left_ = 0;   ///< Width of the labels before the first column.
  double head_ = 0;   ///< Height of the labels above the first lane.
  double gap_ = 0;    ///< Between columns.
  double above_ = 0;  ///< The lane above a row.
  double below_ = 0;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace tutti::render
