#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "render/paint.hpp"

/// Text for people: numbers, tables and colours.
namespace tutti::cli {

/// 3.14159 with two digits → "3.14".
[[nodiscard]] std::string fixed(double value, int digits);
/// With as many digits behind the point as fit into `columns`, at most two.
[[nodiscard]] std::string fitted(double value, std::size_t columns);

/// A table whose columns are as wide as their widest cell.
class TextTable {
 public:
  enum class Align { left, right };

  explicit TextTable(const std::vector<std::pair<std::string, Align>>& columns);

  /// Requires: one cell per column.
  void add(std::vector<std::string> cells);
  /// The head, underlined, then the rows. Lines have no trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;  // The first is the head.
};

/// When to colour standard output.
enum class Colour { automatic, always, never };

/// Colours for standard output. Automatic means: if it is a terminal and NO_COLOR is not set.
[[nodiscard]] render::Paint paint_for(Colour colour);

}  // namespace tutti::cli
