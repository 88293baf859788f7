#pragma once

#include "faults/scenario.hpp"

/// Ranks fork children in the midst of their work, by the thread that calls or by another, as
/// loaders of data do. The children use what they have inherited, free it, allocate, crash, exec or
/// outlive their parent; in some cases a rank dies. The ranks' results stay right, the others get
/// the same verdict, and nothing is left behind.
namespace tutti::test {

void draw_fork(Random& random, FaultCase& drawn);
void play_fork(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_fork(const FaultCase& fault_case, const Board& board,
                                    double patience);
[[nodiscard]] std::string fork_words(const FaultCase& drawn);
[[nodiscard]] std::string fork_label(const FaultCase& drawn);

}  // namespace tutti::test
