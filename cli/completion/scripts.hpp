#pragma once

#include <string>

namespace tutti::cli {

/// A script for bash, zsh or fish. It asks `tutti complete` for candidates, so that it never
/// differs from the program, and completes names of files if there are none.
[[nodiscard]] std::string completion_script(const std::string& shell);

}  // namespace tutti::cli
