#pragma once

#include "render/caption.hpp"
#include "render/svg.hpp"

namespace tutti::render {

/// A caption, wrapped to a given width.
class Heading {
 public:
  Heading(const Caption& caption, double width);

  [[nodiscard]] double height() const;
  void draw(Svg& svg, Point corner) const;
  /// The text of the heading, for screen readers.
  [[nodiscard]] std::string description() const;

 private:
  std::vector<std::string> title_;
  std::vector<std::string> lines_;
};

}  // namespace tutti::render
