#pragma once

#include <functional>

#include "render/board.hpp"

namespace tutti::render {

/// What the colours, arrows and outlines of a schedule's drawing mean.
class Legend {
 public:
  Legend(const Storyboard& story, const Board& board, double width);

  [[nodiscard]] double height() const;
  void draw(Svg& svg, Point corner) const;

 private:
  struct Entry {
    std::function<void(Svg&, Point)> sign;  ///< Drawn with its left middle at the point.
    double sign_width = 0;
    std::string words;
    Point at{};  ///< Relative to the corner; of the sign's left middle.
  };

  void add(double sign_width, std::string words, std::function<void(Svg&, Point)> sign);
  void place(double width);

  std::vector<Entry> entries_;
  double rows_ = 0;
};

}  // namespace tutti::render
