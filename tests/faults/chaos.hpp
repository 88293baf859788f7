#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::test {

/// The result of a training during which ranks died and others joined.
struct ChaosResult {
  std::uint64_t steps = 0;
  std::uint64_t kills = 0;
  std::uint64_t joins = 0;
  std::uint64_t rejections = 0;  ///< Processes that could not join; each was replaced by another.
  std::string last_refusal{};    ///< The error message of the last one.
  double longest_pause_s = 0;    ///< Between two steps.
  double error = 0;              ///< Of the model, at the end.
  std::vector<std::string> wrong{};
};

/// Trains in `ranks` processes for the given time. At random times a process is killed or joins.
/// All members compare model, step and number of calls after each step.
[[nodiscard]] ChaosResult run_chaos(std::uint64_t seed, std::uint32_t ranks,
                                    std::chrono::seconds time);

}  // namespace tutti::test
