#include "render/heading.hpp"

namespace tutti::render {
namespace {

constexpr double title_size = 18;
constexpr double title_line = 24;
constexpr double line_size = 12.5;
constexpr double line_height = 17;

}  // namespace

Heading::Heading(const Caption& caption, double width)
    : title_(wrapped(caption.title, title_size * 1.13, width)) {
  for (const std::string& line : caption.lines) {
    for (std::string& part : wrapped(line, line_size, width)) lines_.push_back(std::move(part));
  }
}

double Heading::height() const {
  return static_cast<double>(title_.size()) * title_line +
         static_cast<double>(lines_.size()) * line_height + 6;
}

void Heading::draw(Svg& svg, Point corner) const {
  double y = corner.y - 4;
  for (const std::string& line : title_) {
    y += title_line;
    svg.text({corner.x, y}, line, {.size = title_size, .style = "ink bold"});
  }
  for (const std::string& line : lines_) {
    y += line_height;
    svg.text({corner.x, y}, line, {.size = line_size, .style = "soft"});
  }
}

std::string Heading::description() const {
  std::string text;
  for (const std::string& line : lines_) text += (text.empty() ? "" : " ") + line;
  return text;
}

}  // namespace tutti::render
