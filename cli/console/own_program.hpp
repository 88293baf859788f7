#pragma once

#include <string>

namespace tutti::cli {

/// Where the program that runs is, to be run again: an absolute path. Throws unsupported if that
/// cannot be found out.
[[nodiscard]] std::string own_program();

}  // namespace tutti::cli
