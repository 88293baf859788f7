#include "support/drawing.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "render/svg.hpp"

namespace tutti::test {
namespace {

TextBox box_of(const pugi::xml_node& text) {
  const double x = text.attribute("x").as_double();
  const double y = text.attribute("y").as_double();
  const double size = text.attribute("font-size").as_double();
  const std::string anchor = text.attribute("text-anchor").as_string();
  const bool bold =
      std::string(text.attribute("class").as_string()).find("bold") != std::string::npos;
  const std::string words = text.text().as_string();
  const double width = render::text_width(words, size, bold);
  const double left = anchor == "end" ? x - width : anchor == "middle" ? x - width / 2 : x;
  return {words, left, y - 0.78 * size, left + width, y + 0.22 * size};
}

bool overlap(const TextBox& a, const TextBox& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

std::string fault_in_texts(std::vector<TextBox> boxes, double width, double height) {
  for (const TextBox& box : boxes) {
    if (box.left < 0 || box.top < 0 || box.right > width || box.bottom > height) {
      return "'" + box.words + "' leaves the paper";
    }
  }
  std::sort(boxes.begin(), boxes.end(),
            [](const TextBox& a, const TextBox& b) { return a.top < b.top; });
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size() && boxes[j].top < boxes[i].bottom; ++j) {
      if (overlap(boxes[i], boxes[j])) {
        return "'" + boxes[i].words + "' and '" + boxes[j].words + "' overlap";
      }
    }
  }
  return "";
}

void visit(const pugi::xml_node& node, const std::function<void(const pugi::xml_node&)>& each) {
  each(node);
  for (const pugi::xml_node& child : node.children()) visit(child, each);
}

}  // namespace

std::vector<TextBox> text_boxes(const std::string& svg) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_string(svg.c_str());
  EXPECT_TRUE(result) << result.description() << " at byte " << result.offset;
  std::vector<TextBox> boxes;
  visit(document, [&](const pugi::xml_node& node) {
    if (std::string(node.name()) == "text") boxes.push_back(box_of(node));
  });
  return boxes;
}

std::string fault_in_drawing(const std::string& svg) {
  pugi::xml_document document;
  if (const pugi::xml_parse_result result = document.load_string(svg.c_str()); !result) {
    return std::string(result.description()) + " at byte " + std::to_string(result.offset);
  }
  std::string fault;
  visit(document, [&](const pugi::xml_node& node) {
    for (const char* const name : {"href", "xlink:href", "src"}) {
      if (node.attribute(name)) fault = std::string(node.name()) + " refers to another file";
    }
  });
  if (!fault.empty()) return fault;
  const pugi::xml_node root = document.child("svg");
  if (!root.child("title").text()) return "there is no title for screen readers";
  return fault_in_texts(text_boxes(svg), root.attribute("width").as_double(),
                        root.attribute("height").as_double());
}

}  // namespace tutti::test
