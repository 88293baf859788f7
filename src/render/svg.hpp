#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::render {

struct Point {
  double x = 0;
  double y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

/// Formats a coordinate: at most two digits after the point, the same on every machine.
[[nodiscard]] std::string number(double value);

/// Escapes text for XML and removes characters that XML does not allow.
[[nodiscard]] std::string escaped(std::string_view text);

/// An upper bound of the width of a text in any sans-serif font: the widths of DejaVu Sans, the
/// widest font in common use, rounded up.
[[nodiscard]] double text_width(std::string_view text, double size, bool bold = false);

/// The text, truncated with "…" if it is wider than `width`.
[[nodiscard]] std::string fitted(std::string_view text, double size, double width);

/// The text in lines of at most `width`, broken at blanks; a longer word is truncated.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double size, double width);

/// The end of a text that is at its point.
enum class Anchor { start, middle, end };

struct Attribute {
  std::string_view name;
  std::string value;

  Attribute(std::string_view called, std::string_view text) : name(called), value(text) {}
  Attribute(std::string_view called, const char* text) : name(called), value(text) {}
  Attribute(std::string_view called, double amount) : name(called), value(number(amount)) {}
};

/// The font of a text.
struct Letters {
  double size = 12;
  /// Classes of the style sheet: "ink", "soft bold".
  std::string_view style = "ink";
  Anchor anchor = Anchor::start;
};

/// A builder of an SVG document.
///
/// Coordinates are absolute: groups have names but no transforms, so that the position of a text
/// can be read from the file. The style sheet contains the rules of the classes in use (see
/// style.hpp), light and dark. The background is painted.
class Svg {
 public:
  /// `title` and `description` are for screen readers.
  Svg(double width, double height, std::string_view title, std::string_view description);

  void rect(Point corner, double width, double height, std::string_view style, double radius = 0);
  void line(Point from, Point to, std::string_view style);
  void path(std::string_view commands, std::string_view style);
  void circle(Point centre, double radius, std::string_view style);
  void text(Point at, std::string_view words, const Letters& letters);

  /// Opens an element. Elements up to end(), such as its tooltip, are inside it.
  void begin(std::string_view tag, std::initializer_list<Attribute> attributes);
  void end();
  /// Adds an empty element.
  void element(std::string_view tag, std::initializer_list<Attribute> attributes);
  /// Adds a tooltip to the element that was begun last.
  void tooltip(std::string_view words);

  /// Adds the rules of these classes to the style sheet, for elements that a script adds later.
  void use(std::string_view classes);

  /// The whole document. Requires: every begin() has its end().
  [[nodiscard]] std::string document() const;

 private:
  void open(std::string_view tag, std::initializer_list<Attribute> attributes);

  double width_;
  double height_;
  std::string title_;
  std::string description_;
  std::set<std::string, std::less<>> classes_{"paper"};
  std::vector<std::string> begun_;
  std::string body_;
};

/// A builder of the commands of a path.
class PathData {
 public:
  PathData& move(Point to) { return add('M', {to}); }
  PathData& line(Point to) { return add('L', {to}); }
  /// A quadratic Bézier curve.
  PathData& bend(Point over, Point to) { return add('Q', {over, to}); }
  /// A cubic Bézier curve.
  PathData& curve(Point first, Point second, Point to) { return add('C', {first, second, to}); }
  /// A closed rectangle, in few characters.
  PathData& box(Point corner, double width, double height);
  PathData& close() {
    text_ += 'Z';
    return *this;
  }

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  PathData& add(char command, std::initializer_list<Point> points);

  std::string text_;
};

}  // namespace tutti::render
