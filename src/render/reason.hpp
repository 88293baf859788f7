#pragma once

#include <string_view>

namespace tutti::render {

/// Why an algorithm is as it is, in words for readers of the command and of the explorer.
struct Reason {
  std::string_view idea;   ///< What it does.
  std::string_view why;    ///< Why it does so, and when it wins.
  std::string_view bound;  ///< How far it is from the least possible.
};

/// The reason of an algorithm, with or without values of its parameters; null if none is written.
[[nodiscard]] const Reason* find_reason(std::string_view algorithm);

}  // namespace tutti::render
