#pragma once

#include <cstddef>

namespace tutti::cli {

/// The columns that lines of standard output may use: those of COLUMNS, or of the terminal. 0: any
/// number, because standard output is a file or pipe.
[[nodiscard]] std::size_t terminal_columns();

}  // namespace tutti::cli
