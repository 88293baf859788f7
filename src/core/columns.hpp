#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text aligned in columns of a terminal.
namespace tutti {

/// The columns that UTF-8 text takes on a terminal: one for each character.
[[nodiscard]] std::size_t width(std::string_view text);

/// Text that is as wide already is returned unchanged.
[[nodiscard]] std::string pad_left(const std::string& text, std::size_t columns);
[[nodiscard]] std::string pad_right(const std::string& text, std::size_t columns);

/// Text broken between words into lines of at most `columns`, each but the first after `indent`
/// spaces. A longer word has a line of its own. The last line has no line end.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns,
                                  std::size_t indent = 0);

}  // namespace tutti
