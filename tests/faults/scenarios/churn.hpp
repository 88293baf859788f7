#pragma once

#include "faults/scenario.hpp"

/// A loop that makes, uses and destroys communicators while ranks die: duplicates, splits, and
/// several at once. When one fails, the surviving ranks shrink the group and go on.
namespace tutti::test {

void draw_churn(Random& random, FaultCase& drawn);
void play_churn(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_churn(const FaultCase& fault_case, const Board& board,
                                     double patience);
[[nodiscard]] std::string churn_words(const FaultCase& drawn);
[[nodiscard]] std::string churn_label(const FaultCase& drawn);

}  // namespace tutti::test
