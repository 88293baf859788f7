#pragma once

#include <functional>
#include <string>
#include <vector>

#include "render/svg.hpp"

namespace tutti::render {

/// Signs with words beside them, in rows: what colours, lines and shapes mean.
class Legend {
 public:
  /// Rows are at most `width` wide.
  explicit Legend(double width) : width_(width) {}

  /// Draws a sign with its left middle at a point.
  using Sign = std::function<void(Svg& svg, Point at)>;
  void add(double sign_width, const std::string& words, Sign sign);

  [[nodiscard]] double height() const;
  void draw(Svg& svg, Point corner) const;

 private:
  struct Entry {
    Sign sign;
    double sign_width = 0;
    std::string words;
    Point at{};  ///< Relative to the corner; of the sign's left middle.
  };

  double width_;
  double used_ = 0;  ///< Of the last row.
  double rows_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace tutti::render
