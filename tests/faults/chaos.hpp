#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::test {

/// What came of a training during which ranks died and others joined.
struct ChaosResult {
  std::uint64_t steps = 0;
  std::uint64_t kills = 0;
  std::uint64_t joins = 0;
  std::uint64_t note_rejection = 0;  ///< Who knocked in vain, and came again as another.
  std::string last_refusal{};        ///< What the last of them was told.
  double longest_pause_s = 0;        ///< Between two steps.
  double error = 0;                  ///< Of the model, at the end.
  std::vector<std::string> wrong{};
};

/// Trains in `ranks` processes for so long. At random moments one is killed, or another joins; all
/// members compare model, step and number of calls after each step.
[[nodiscard]] ChaosResult run_chaos(std::uint64_t seed, std::uint32_t ranks,
                                    std::chrono::seconds time);

}  // namespace tutti::test
