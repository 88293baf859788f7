#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "cli/measure/duel.hpp"
#include "cli/measure/progress.hpp"

namespace tutti::measure {

/// Two algorithms of one collective that need no shape, and the sizes to compare them for: doubled
/// from `from` up to `to`.
struct CrossoverTask {
  const Algorithm* first = nullptr;
  const Algorithm* second = nullptr;
  std::uint64_t from = 8;
  std::uint64_t to = std::uint64_t{16} << 20;
};

/// Every duel three times.
struct MeasuredCrossover {
  std::string first{};
  std::string second{};
  std::vector<Duel> measured{};
  std::vector<Duel> predicted{};  ///< By the profile.
  std::vector<Duel> modelled{};   ///< By the model of the profile alone.

  [[nodiscard]] std::string json() const;
};

/// Runs both algorithms in turns for every size, together with the other ranks.
[[nodiscard]] MeasuredCrossover measure_crossover(Communicator& communicator,
                                                  const CrossoverTask& task,
                                                  const Progress& progress = {});

}  // namespace tutti::measure
