#pragma once

#include <thread>
#include <vector>

#include "faults/scenario.hpp"

namespace tutti::test {

/// Kills some ranks' processes in the midst of a loop, as FaultCase::chance() has it: the victim,
/// and in a group of four or more sometimes another one.
class SuddenDeath {
 public:
  /// Of a loop of so many steps; each dies within so long after one has begun.
  struct Loop {
    std::uint32_t steps;
    std::chrono::microseconds within;
  };
  SuddenDeath(const FaultCase& fault_case, std::uint32_t self, const Loop& loop, BoardLine& line);
  /// Waits for the end, if it is on its way.
  ~SuddenDeath();
  SuddenDeath(const SuddenDeath&) = delete;
  SuddenDeath& operator=(const SuddenDeath&) = delete;

  /// This step begins.
  void step(std::uint32_t number);

  [[nodiscard]] static std::vector<std::uint32_t> victims(const FaultCase& fault_case);

 private:
  BoardLine& line_;
  std::optional<std::uint32_t> at_step_;
  std::chrono::microseconds after_{};
  std::thread timer_;
};

/// What must hold of a loop with deaths in it: the surviving ranks come to its end without trouble,
/// with the same outcomes, and without a pause that is longer than promised.
[[nodiscard]] CaseResult judge_loop(const FaultCase& fault_case, const Board& board,
                                    double patience);

}  // namespace tutti::test
