#pragma once

#include <string>

/// Whole files, as text; "-" is standard input or output.
namespace tutti::cli {

/// Throws invalid_argument if it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

/// Throws invalid_argument if it cannot be written.
void write_text(const std::string& path, const std::string& text);

}  // namespace tutti::cli
