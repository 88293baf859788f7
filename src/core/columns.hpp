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

}  // namespace tutti
