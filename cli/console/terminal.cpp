#include "cli/console/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tutti::cli {
namespace {

/// Narrower terminals get lines of this width.
constexpr std::size_t least_columns = 40;

}  // namespace

std::size_t terminal_columns() {
  if (const char* const text = std::getenv("COLUMNS")) {
    const std::string_view digits(text);
    std::size_t columns = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), columns);
    if (error == std::errc{} && end == digits.data() + digits.size() && columns > 0) {
      return std::max(columns, least_columns);
    }
  }
  if (isatty(STDOUT_FILENO) != 1) return 0;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<std::size_t>(size.ws_col, least_columns);
}

}  // namespace tutti::cli
