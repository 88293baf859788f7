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
  /// The head, underlined, then the rows. Lines have no trailing spaces. In a terminal that is too
  /// narrow, cells that are aligned left are broken between words; if that does not suffice, the
  /// table is folded: the first column is repeated with the next columns.
  [[nodiscard]] std::string text() const;
  /// The same for lines of at most `columns`; 0: any length.
  [[nodiscard]] std::string text(std::size_t columns) const;

 private:
  using Columns = std::vector<std::size_t>;  // Their indices.

  [[nodiscard]] std::vector<std::size_t> widths(std::size_t columns) const;
  [[nodiscard]] std::string part(const Columns& shown,
                                 const std::vector<std::size_t>& widths) const;

  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;  // The first is the head.
};

/// When to colour standard output.
enum class Colour { automatic, always, never };

/// Colours for standard output. Automatic means: if it is a terminal and NO_COLOR is not set.
[[nodiscard]] render::Paint paint_for(Colour colour);

}  // namespace tutti::cli
