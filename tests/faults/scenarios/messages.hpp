#pragma once

#include "faults/scenario.hpp"

/// Point-to-point messages that overlap each other and collectives, through every interface, on
/// several communicators and in several threads. Meanwhile a rank dies, is stopped, aborts or sends
/// a message that is too long; or nothing happens.
namespace tutti::test {

void draw_messages(Random& random, FaultCase& drawn);
void play_messages(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
[[nodiscard]] CaseResult judge_messages(const FaultCase& fault_case, const Board& board,
                                        double patience);
[[nodiscard]] std::string messages_words(const FaultCase& drawn);
[[nodiscard]] std::string messages_label(const FaultCase& drawn);

}  // namespace tutti::test
