#pragma once

#include <string>

namespace tutti::test {

/// What a run of the command gave.
struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs a line as a shell reads it, with this text on standard input.
[[nodiscard]] Outcome shell(const std::string& line, const std::string& input = "");

/// Runs `tutti` with these arguments, as a shell reads them, and this text on standard input.
[[nodiscard]] Outcome tutti(const std::string& arguments, const std::string& input = "");

}  // namespace tutti::test
