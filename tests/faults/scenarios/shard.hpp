#pragma once

#include "faults/scenario.hpp"

/// A tight loop of with_retry() in which ranks die. Before each call a rank selects its share of
/// the data by its rank and the size of the communicator. After it the sum must be that of all
/// shares except those of `gone`, and ranks that learn of a loss make one more call.
namespace tutti::test {

void draw_shard(Random& random, FaultCase& drawn);
void play_shard(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_shard(const FaultCase& fault_case, const Board& board,
                                     double patience);
[[nodiscard]] std::string shard_words(const FaultCase& drawn);
[[nodiscard]] std::string shard_label(const FaultCase& drawn);

}  // namespace tutti::test
