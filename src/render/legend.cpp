#include "render/legend.hpp"

namespace tutti::render {
namespace {

constexpr double size = 12;
constexpr double row_height = 22;
constexpr double gap = 14;

}  // namespace

void Legend::add(double sign_width, const std::string& words, Sign sign) {
  const double wide = sign_width + 7 + text_width(words, size);
  if (rows_ == 0 || used_ + wide > width_) {
    used_ = 0;
    ++rows_;
  }
  entries_.push_back({.sign = std::move(sign),
                      .sign_width = sign_width,
                      .words = words,
                      .at = {used_, (rows_ - 0.5) * row_height}});
  used_ += wide + gap;
}

double Legend::height() const { return rows_ * row_height + 4; }

void Legend::draw(Svg& svg, Point corner) const {
  for (const Entry& entry : entries_) {
    const Point at{corner.x + entry.at.x, corner.y + entry.at.y};
    entry.sign(svg, at);
    svg.text({at.x + entry.sign_width + 7, at.y + size * 0.36}, entry.words,
             {.size = size, .style = "soft"});
  }
}

}  // namespace tutti::render
