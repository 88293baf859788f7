#pragma once

#include "faults/scenario.hpp"

/// One rank fails in a collective. The others get the same verdict; then they shrink and repeat the
/// call ("call"), or end their processes at once ("exit").
namespace tutti::test {

void draw_call(Random& random, FaultCase& drawn);
void draw_exit(Random& random, FaultCase& drawn);
void play_call(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_call(const FaultCase& fault_case, const Board& board,
                                    double patience);
[[nodiscard]] std::string call_words(const FaultCase& drawn);
[[nodiscard]] std::string call_label(const FaultCase& drawn);
[[nodiscard]] std::string exit_label(const FaultCase& drawn);

}  // namespace tutti::test
