#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/measure/measured_crossover.hpp"
#include "select/reach.hpp"

namespace tutti::cli {

/// What `tutti crossover --measure` measures, as the command line asks for it.
struct CrossoverRequest {
  measure::CrossoverTask task{};
  std::uint32_t ranks = 0;
  Pairs pairs = Pairs::host;
  bool json = false;
};

/// Runs both algorithms on this host and prints where they cross: as measured, by the profile, and
/// by its model alone. `words` are those of the command line, to start the same command as ranks.
[[nodiscard]] int run_crossover(const CrossoverRequest& request, std::vector<std::string> words);

}  // namespace tutti::cli
