#include "render/svg.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include <tutti/error.hpp>

#include "render/style.hpp"

namespace tutti::render {
namespace {

/// In em, rounded up from DejaVu Sans.
double letter_width(unsigned char first) {
  const std::string_view narrow = "iljI.,:;'|![]() ";
  const std::string_view wide = "mwMW%@";
  const char letter = static_cast<char>(first);
  if (narrow.find(letter) != std::string_view::npos) return 0.4;
  if (wide.find(letter) != std::string_view::npos) return 1;
  if (letter >= 'A' && letter <= 'Z') return 0.79;
  if (first >= 0xE2) return 1;     // Arrows, dots, brackets, signs.
  if (first >= 0xC0) return 0.72;  // Greek, accents.
  return letter == '+' || letter == '=' || letter == '<' || letter == '>' ? 0.84 : 0.65;
}

/// Two digits after a decimal point, in every locale. A template, so that std::to_chars is compiled
/// only where the library has it for double; WebAssembly, which lacks it, has no other locales.
template <class Number>
std::string in_hundredths(Number value) {
  std::array<char, 32> text{};
  if constexpr (requires {
                  std::to_chars(text.data(), text.data(), value, std::chars_format::fixed, 2);
                }) {
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 2);
    if (error == std::errc{}) return {text.data(), end};
  } else {
    const int length = std::snprintf(text.data(), text.size(), "%.2f", value);
    if (length > 0 && static_cast<std::size_t>(length) < text.size()) return text.data();
  }
  throw Error(ErrorCode::invalid_argument, "a coordinate is too large to draw");
}

bool begins_character(char byte) { return (byte & 0xC0) != 0x80; }

std::string_view name(Anchor anchor) {
  constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
  return names.at(static_cast<std::size_t>(anchor));
}

}  // namespace

std::string number(double value) {
  std::string digits = in_hundredths(value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\n':
      case '\t':
        safe += ' ';
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) safe += c;
    }
  }
  return safe;
}

double text_width(std::string_view text, double size, bool bold) {
  double ems = 0;
  for (const char c : text) {
    if (begins_character(c)) ems += letter_width(static_cast<unsigned char>(c));
  }
  constexpr double bolder = 1.13;
  return ems * size * (bold ? bolder : 1);
}

std::string fitted(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  while (!text.empty() && text_width(text, size) + size > width) {
    while (!begins_character(text.back())) text.remove_suffix(1);
    text.remove_suffix(1);
  }
  return std::string(text) + "…";
}

std::vector<std::string> wrapped(std::string_view text, double size, double width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::string longer = lines.empty() ? "" : lines.back() + " " + std::string(word);
    if (!lines.empty() && text_width(longer, size) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(fitted(word, size, width));
    }
  }
  return lines;
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : width_(width), height_(height), title_(title), description_(description) {}

void Svg::rect(Point corner, double width, double height, std::string_view style, double radius) {
  if (radius > 0) {
    element("rect", {{"x", corner.x},
                     {"y", corner.y},
                     {"width", width},
                     {"height", height},
                     {"rx", radius},
                     {"class", style}});
  } else {
    element(
        "rect",
        {{"x", corner.x}, {"y", corner.y}, {"width", width}, {"height", height}, {"class", style}});
  }
}

void Svg::line(Point from, Point to, std::string_view style) {
  element("line", {{"x1", from.x}, {"y1", from.y}, {"x2", to.x}, {"y2", to.y}, {"class", style}});
}

void Svg::path(std::string_view commands, std::string_view style) {
  element("path", {{"d", commands}, {"class", style}});
}

void Svg::circle(Point centre, double radius, std::string_view style) {
  element("circle", {{"cx", centre.x}, {"cy", centre.y}, {"r", radius}, {"class", style}});
}

void Svg::text(Point at, std::string_view words, const Letters& letters) {
  open("text", {{"x", at.x},
                {"y", at.y},
                {"font-size", letters.size},
                {"text-anchor", name(letters.anchor)},
                {"class", letters.style}});
  body_ += ">" + escaped(words) + "</text>\n";
}

void Svg::begin(std::string_view tag, std::initializer_list<Attribute> attributes) {
  open(tag, attributes);
  body_ += ">\n";
  begun_.emplace_back(tag);
}

void Svg::end() {
  body_ += "</" + begun_.back() + ">\n";
  begun_.pop_back();
}

void Svg::element(std::string_view tag, std::initializer_list<Attribute> attributes) {
  open(tag, attributes);
  body_ += "/>\n";
}

void Svg::tooltip(std::string_view words) { body_ += "<title>" + escaped(words) + "</title>\n"; }

void Svg::use(std::string_view classes) {
  while (!classes.empty()) {
    const std::string_view word = classes.substr(0, classes.find(' '));
    classes_.emplace(word);
    classes.remove_prefix(std::min(classes.size(), word.size() + 1));
  }
}

void Svg::open(std::string_view tag, std::initializer_list<Attribute> attributes) {
  body_.append("<").append(tag);
  for (const Attribute& each : attributes) {
    if (each.name == "class") use(each.value);
    body_.append(" ").append(each.name).append("=\"").append(escaped(each.value)).append("\"");
  }
}

std::string Svg::document() const {
  const std::string size = number(width_) + " " + number(height_);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" +
         number(width_) + "\" height=\"" + number(height_) +
         "\" role=\"img\" aria-labelledby=\"title description\">\n<title id=\"title\">" +
         escaped(title_) + "</title>\n<desc id=\"description\">" + escaped(description_) +
         "</desc>\n<style>" + style_sheet(classes_) +
         "</style>\n<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n" + body_ + "</svg>\n";
}

PathData& PathData::box(Point corner, double width, double height) {
  const std::string w = number(width);
  move(corner);
  text_ += "h" + w + "v" + number(height) + "h" + (w == "0" ? w : "-" + w) + "z";
  return *this;
}

PathData& PathData::add(char command, std::initializer_list<Point> points) {
  text_ += command;
  for (const Point& each : points) {
    if (text_.back() != command) text_ += ' ';
    text_ += number(each.x) + " " + number(each.y);
  }
  return *this;
}

}  // namespace tutti::render
