#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Text for people: columns, colours, thousands.
namespace tutti::cli {

/// How many columns the text takes on a terminal: one for each character, whatever its bytes.
[[nodiscard]] std::size_t width(std::string_view text);

[[nodiscard]] std::string pad_left(const std::string& text, std::size_t columns);
[[nodiscard]] std::string pad_right(const std::string& text, std::size_t columns);

/// 3.14159 with two digits → "3.14".
[[nodiscard]] std::string fixed(double value, int digits);
/// With as many digits behind the point, two at most, as `columns` have room for.
[[nodiscard]] std::string fitted(double value, std::size_t columns);

/// 1234567 → "1,234,567".
[[nodiscard]] std::string with_commas(std::uint64_t number);

/// A table whose columns are as wide as their widest cell.
class TextTable {
 public:
  enum class Align { left, right };

  explicit TextTable(const std::vector<std::pair<std::string, Align>>& columns);

  /// Requires: as many cells as there are columns.
  void add(std::vector<std::string> cells);
  /// The head underlined, then the rows; no blanks at the ends of lines.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;  // The first is the head.
};

/// Whether to colour what goes to standard output.
enum class Colour { automatic, always, never };

/// Paints text if the terminal takes it and the user has not set NO_COLOR.
class Painter {
 public:
  explicit Painter(Colour colour);

  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return paint("2", text); }
  [[nodiscard]] std::string green(const std::string& text) const { return paint("32", text); }
  [[nodiscard]] std::string red(const std::string& text) const { return paint("31", text); }
  [[nodiscard]] std::string cyan(const std::string& text) const { return paint("36", text); }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const;

  bool on_;
};

}  // namespace tutti::cli
