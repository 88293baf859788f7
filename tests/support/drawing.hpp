#pragma once

#include <string>
#include <vector>

namespace tutti::test {

/// The bounding box of a text of a drawing, at its widest.
struct TextBox {
  std::string words;
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// The texts of an SVG document. Fails the test if it is not XML.
[[nodiscard]] std::vector<TextBox> text_boxes(const std::string& svg);

/// The error in an SVG document: it is not XML, texts overlap or leave the paper, or it refers to
/// another file. Empty if there is none.
[[nodiscard]] std::string fault_in_drawing(const std::string& svg);

}  // namespace tutti::test
