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

/// A number as drawings have it: at most two digits after the point, the same on every machine.
[[nodiscard]] std::string number(double value);

/// Text with what XML reserves written otherwise, and without what XML cannot hold at all.
[[nodiscard]] std::string escaped(std::string_view text);

/// At least how wide the text will be, whatever sans-serif font the reader has: the widths of
/// DejaVu Sans, the widest in common use, rounded up.
[[nodiscard]] double text_width(std::string_view text, double size, bool bold = false);

/// The text, cut with "…" where it would be wider than `width`.
[[nodiscard]] std::string fitted(std::string_view text, double size, double width);

/// The text in lines of at most `width`, broken at blanks; a longer word is cut.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double size, double width);

/// Which end of a text stands at its point.
enum class Anchor { start, middle, end };

struct Attribute {
  std::string_view name;
  std::string value;

  Attribute(std::string_view called, std::string_view text) : name(called), value(text) {}
  Attribute(std::string_view called, const char* text) : name(called), value(text) {}
  Attribute(std::string_view called, double amount) : name(called), value(number(amount)) {}
};

/// How a text looks.
struct Letters {
  double size = 12;
  /// Classes of the style sheet: "ink", "soft bold".
  std::string_view style = "ink";
  Anchor anchor = Anchor::start;
};

/// An SVG document that grows element by element.
///
/// Coordinates are absolute: groups have names but never move what is in them, so that who reads
/// the file knows where a text stands without doing sums. The style sheet holds the rules of the
/// classes that were used (see style.hpp), for light and dark, and the paper is painted.
class Svg {
 public:
  /// `title` and `description` are for those who cannot see the picture.
  Svg(double width, double height, std::string_view title, std::string_view description);

  void rect(Point corner, double width, double height, std::string_view style, double radius = 0);
  void line(Point from, Point to, std::string_view style);
  void path(std::string_view commands, std::string_view style);
  void circle(Point centre, double radius, std::string_view style);
  void text(Point at, std::string_view words, const Letters& letters);

  /// An element with what stands inside it up to end(), such as its tooltip.
  void begin(std::string_view tag, std::initializer_list<Attribute> attributes);
  void end();
  /// An element with nothing inside.
  void element(std::string_view tag, std::initializer_list<Attribute> attributes);
  /// What a pointer that rests on the element begun last is told.
  void tooltip(std::string_view words);

  /// Puts the rules of these classes into the style sheet though no element has them yet.
  void use(std::string_view classes);

  /// The whole document. Requires: every begin() has had its end().
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

/// Puts together the commands of a path.
class PathData {
 public:
  PathData& move(Point to) { return add('M', {to}); }
  PathData& line(Point to) { return add('L', {to}); }
  /// A curve with one control point.
  PathData& bend(Point over, Point to) { return add('Q', {over, to}); }
  /// A curve with two.
  PathData& curve(Point first, Point second, Point to) { return add('C', {first, second, to}); }
  /// A closed rectangle, in few letters.
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
