#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/plan.hpp"

namespace tutti::cli {

/// What the user has asked `tutti bench --regret` for.
struct RegretOptions {
  std::uint32_t ranks = 0;         ///< Zero: 2, 4 and 8.
  std::string transport = "auto";  ///< "auto": shm and tcp.
  BenchWishes wishes{};
  std::string json{};
  std::string part{};
};

/// Measures how much is lost by leaving the choice to tutti. Each number of ranks and each way gets
/// processes of its own, several times; what they find is printed as one table.
[[nodiscard]] int run_regret(const RegretOptions& options, std::vector<std::string> words);

}  // namespace tutti::cli
