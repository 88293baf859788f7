#pragma once

#include <string>

/// The command, as a word of a shell: its path may have spaces.
#define TUTTI_IN_SHELL "\"" TUTTI_COMMAND "\""

namespace tutti::test {

/// The result of a run of the command.
struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs a shell command line with this text on standard input.
[[nodiscard]] Outcome shell(const std::string& line, const std::string& input = "");

/// Runs `tutti` with these arguments, in shell syntax, and this text on standard input.
[[nodiscard]] Outcome tutti(const std::string& arguments, const std::string& input = "");

}  // namespace tutti::test
