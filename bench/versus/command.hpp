#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "versus/contender.hpp"

namespace tutti::cli {

/// How to start a contender's program, which follows orders on its standard input
/// (bench/peers/README.md).
struct VersusCommand {
  std::vector<std::string> words{};
  std::vector<std::pair<std::string, std::string>> variables{};
};

/// Where this program is built, with the command and the programs of the peers.
[[nodiscard]] std::filesystem::path build_folder();

/// `folder` holds the peers' programs. Throws invalid_argument for unknown settings.
[[nodiscard]] VersusCommand command_of(const Contender& contender, const VersusField& field,
                                       const std::string& folder);

}  // namespace tutti::cli
