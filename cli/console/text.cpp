#include "cli/console/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "core/columns.hpp"

namespace tutti::cli {

std::string fixed(double value, int digits) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string fitted(double value, std::size_t columns) {
  for (const int digits : {2, 1, 0}) {
    std::string text = fixed(value, digits);
    if (text.size() <= columns) return text;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), columns < 7 ? "%.0e" : "%.1e", value);
  return text.data();
}

TextTable::TextTable(const std::vector<std::pair<std::string, Align>>& columns) {
  std::vector<std::string> head;
  for (const auto& [title, align] : columns) {
    head.push_back(title);
    aligns_.push_back(align);
  }
  rows_.push_back(std::move(head));
}

void TextTable::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string TextTable::text() const {
  std::vector<std::size_t> widths(aligns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  const auto write = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += "  ";
      line +=
          aligns_[i] == Align::left ? pad_right(cell(i), widths[i]) : pad_left(cell(i), widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    write([&](std::size_t i) { return rows_[r][i]; });
    if (r == 0) write([&](std::size_t i) { return std::string(widths[i], '-'); });
  }
  return out;
}

render::Paint paint_for(Colour colour) {
  const char* const off = std::getenv("NO_COLOR");
  const bool automatic = isatty(STDOUT_FILENO) == 1 && (off == nullptr || *off == '\0');
  return render::Paint(colour == Colour::always || (colour == Colour::automatic && automatic));
}

}  // namespace tutti::cli
