#include "core/columns.hpp"

#include <algorithm>

namespace tutti {

std::size_t width(std::string_view text) {
  // Every byte of UTF-8 but the first of a character begins with the bits 10.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad_left(const std::string& text, std::size_t columns) {
  const std::size_t used = width(text);
  return used < columns ? std::string(columns - used, ' ') + text : text;
}

std::string pad_right(const std::string& text, std::size_t columns) {
  const std::size_t used = width(text);
  return used < columns ? text + std::string(columns - used, ' ') : text;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string lines;
  std::size_t used = indent;  // The caller has indented the first line.
  bool begins = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!begins && used + 1 + width(word) > columns) {
      lines += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!begins) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += width(word);
    begins = false;
  }
  return lines;
}

}  // namespace tutti
