#pragma once

#include "faults/scenario.hpp"

/// Some ranks are stopped (SIGSTOP) while all make a call or a new communicator. The others get the
/// error soon after the deadline, shrink the group and go on.
namespace tutti::test {

void draw_freeze(Random& random, FaultCase& drawn);
void play_freeze(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_freeze(const FaultCase& fault_case, const Board& board,
                                      double patience);
[[nodiscard]] std::string freeze_words(const FaultCase& drawn);
[[nodiscard]] std::string freeze_label(const FaultCase& drawn);

}  // namespace tutti::test
