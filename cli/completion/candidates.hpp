#pragma once

#include <string>
#include <vector>

#include "cli/console/description.hpp"

namespace tutti::cli {

/// What the last of the words after "tutti" can become: commands, options, values, names of
/// algorithms and networks. Empty if it is probably a file. Requires: `root` describes tutti.
[[nodiscard]] std::vector<std::string> candidates(const Description& root,
                                                  const std::vector<std::string>& words);

}  // namespace tutti::cli
