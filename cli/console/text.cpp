#include "cli/console/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/console/terminal.hpp"
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

namespace {

/// The widest of the words of a cell: it cannot be narrower.
std::size_t longest_word(std::string_view cell) {
  std::size_t longest = 0;
  while (!cell.empty()) {
    const std::string_view word = cell.substr(0, cell.find(' '));
    longest = std::max(longest, width(word));
    cell.remove_prefix(std::min(cell.size(), word.size() + 1));
  }
  return longest;
}

std::vector<std::string> lines_of(const std::string& cell, std::size_t columns) {
  const std::string broken = wrapped(cell, columns);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= broken.size();) {
    const std::size_t end = std::min(broken.find('\n', begin), broken.size());
    lines.push_back(broken.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t each : widths) sum += each + 2;
  return sum == 0 ? 0 : sum - 2;
}

}  // namespace

/// Takes columns from the widest that can be broken, until the table fits or none is left.
std::vector<std::size_t> TextTable::widths(std::size_t columns) const {
  std::vector<std::size_t> found(aligns_.size(), 0);
  std::vector<std::size_t> least(aligns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      found[i] = std::max(found[i], width(row[i]));
      const bool breaks = aligns_[i] == Align::left || &row == &rows_.front();
      least[i] = std::max(least[i], breaks ? longest_word(row[i]) : width(row[i]));
    }
  }
  // A column of a few letters is harder to read than a folded table.
  constexpr std::size_t readable = 18;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (aligns_[i] == Align::left) least[i] = std::max(least[i], std::min(found[i], readable));
  }
  while (columns != 0 && total(found) > columns) {
    std::size_t widest = found.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool wider = widest == found.size() || found[i] > found[widest];
      if (found[i] > least[i] && wider) widest = i;
    }
    if (widest == found.size()) break;
    --found[widest];
  }
  return found;
}

std::string TextTable::part(const Columns& shown, const std::vector<std::size_t>& widths) const {
  std::string out;
  const auto write = [&](const auto& cell) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const std::size_t i : shown) {
      cells.push_back(lines_of(cell(i), widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line;
      for (std::size_t k = 0; k < shown.size(); ++k) {
        const std::size_t i = shown[k];
        const std::string text = l < cells[k].size() ? cells[k][l] : "";
        if (k > 0) line += "  ";
        line += aligns_[i] == Align::left ? pad_right(text, widths[i]) : pad_left(text, widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
  };
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    write([&](std::size_t i) { return rows_[r][i]; });
    if (r == 0) write([&](std::size_t i) { return std::string(widths[i], '-'); });
  }
  return out;
}

std::string TextTable::text(std::size_t columns) const {
  const std::vector<std::size_t> wide = widths(columns);
  std::string out;
  for (std::size_t next = 0; next < wide.size();) {
    Columns shown;
    std::size_t used = 0;
    if (next > 0) {
      shown.push_back(0);
      used = wide[0];
    }
    do {
      used += wide[next] + (shown.empty() ? 0 : 2);
      shown.push_back(next++);
    } while (next < wide.size() && (columns == 0 || used + 2 + wide[next] <= columns));
    out += (out.empty() ? "" : "\n") + part(shown, wide);
  }
  return out;
}

std::string TextTable::text() const { return text(terminal_columns()); }

render::Paint paint_for(Colour colour) {
  const char* const off = std::getenv("NO_COLOR");
  const bool automatic = isatty(STDOUT_FILENO) == 1 && (off == nullptr || *off == '\0');
  return render::Paint(colour == Colour::always || (colour == Colour::automatic && automatic));
}

}  // namespace tutti::cli
