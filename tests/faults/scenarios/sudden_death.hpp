#pragma once

#include <thread>
#include <vector>

#include "faults/scenario.hpp"

namespace tutti::test {

/// Kills the processes of some ranks during a loop, at times from FaultCase::chance(): the victim,
/// and in a group of four or more sometimes another one.
class SuddenDeath {
 public:
  /// For a loop of `steps` steps. Each victim dies within a given time after a step has begun.
  struct Loop {
    std::uint32_t steps;
    std::chrono::microseconds within;
  };
  SuddenDeath(const FaultCase& fault_case, std::uint32_t self, const Loop& loop, BoardLine& line);
  /// Waits for the signal if this rank is about to be killed.
  ~SuddenDeath();
  SuddenDeath(const SuddenDeath&) = delete;
  SuddenDeath& operator=(const SuddenDeath&) = delete;

  /// Called at the beginning of a step.
  void step(std::uint32_t number);

  [[nodiscard]] static std::vector<std::uint32_t> victims(const FaultCase& fault_case);

 private:
  BoardLine& line_;
  std::optional<std::uint32_t> at_step_;
  std::chrono::microseconds after_{};
  std::thread timer_;
};

/// Checks a loop in which ranks die: the surviving ranks reach its end without an error, with the
/// same outcomes, and without a pause that is longer than promised.
[[nodiscard]] CaseResult judge_loop(const FaultCase& fault_case, const Board& board,
                                    double patience);

}  // namespace tutti::test
