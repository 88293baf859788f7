#pragma once

#include <string>
#include <vector>

namespace tutti::test {

/// Where a text of a drawing stands, at its widest.
struct TextBox {
  std::string words;
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// The texts of an SVG document. Fails the test if it is not XML.
[[nodiscard]] std::vector<TextBox> text_boxes(const std::string& svg);

/// What is wrong with an SVG document: it is not XML, one text lies over another or leaves the
/// paper, or something is to be fetched. Empty if nothing is.
[[nodiscard]] std::string fault_in_drawing(const std::string& svg);

}  // namespace tutti::test
