#pragma once

#include <string>
#include <vector>

#include "cli/console/arguments.hpp"

namespace tutti::cli {

/// Runs a command line and completes standard output. Returns the exit code, also if the command
/// throws; the reason is then on standard error.
[[nodiscard]] int run_to_exit(Arguments& arguments, const std::vector<std::string>& words);

}  // namespace tutti::cli
