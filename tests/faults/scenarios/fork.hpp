#pragma once

#include "faults/scenario.hpp"

/// Ranks fork children during calls, from the calling thread or from another, as data loaders do.
/// The children use or free inherited objects, allocate, crash, exec or outlive their parent; in
/// some cases a rank dies. The results of the ranks stay right, the surviving ranks get the same
/// verdict, and nothing is left behind.
namespace tutti::test {

void draw_fork(Random& random, FaultCase& drawn);
void play_fork(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_fork(const FaultCase& fault_case, const Board& board,
                                    double patience);
[[nodiscard]] std::string fork_words(const FaultCase& drawn);
[[nodiscard]] std::string fork_label(const FaultCase& drawn);

}  // namespace tutti::test
