#pragma once

#include <functional>
#include <string>
#include <vector>

#include "render/svg.hpp"

namespace tutti::render {

/// Symbols with a text beside them, in rows: the meaning of colours, lines and shapes.
class Legend {
 public:
  /// Rows are at most `width` wide.
  explicit Legend(double width) : width_(width) {}

  /// Draws a symbol; `at` is the middle of its left edge.
  using Sign = std::function<void(Svg& svg, Point at)>;
  void add(double sign_width, const std::string& words, Sign sign);

  [[nodiscard]] double height() const;
  void draw(Svg& svg, Point corner) const;

 private:
  struct Entry {
    Sign sign;
    double sign_width = 0;
    std::string words;
    Point at{};  ///< The middle of the left edge of the symbol, relative to the corner.
  };

  double width_;
  double used_ = 0;  ///< Width used in the last row.
  double rows_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace tutti::render
