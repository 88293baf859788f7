#pragma once

#include <tutti/communicator.hpp>

#include "faults/board.hpp"
#include "faults/fault_case.hpp"

namespace tutti::test {

/// How long ranks wait for each other where the case does not say otherwise.
inline constexpr std::chrono::milliseconds usual_timeout{6000};

/// What one rank does in a case: the call in which something happens, and then, with those who are
/// left, what remains of the group and the call once more. Writes down how it went.
void play(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);

}  // namespace tutti::test
