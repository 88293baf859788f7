#pragma once

#include "faults/board.hpp"
#include "faults/case_run.hpp"

namespace tutti::test {

/// Compares what the ranks have written down with what tutti promises, but for `patience` times as
/// long.
[[nodiscard]] CaseResult judge(const FaultCase& fault_case, const Board& board, double patience);

}  // namespace tutti::test
