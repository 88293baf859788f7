#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tutti/communicator.hpp>

#include "faults/board.hpp"
#include "faults/case_run.hpp"
#include "faults/fault_case.hpp"
#include "support/random.hpp"

namespace tutti::test {

/// A kind of case: what the ranks do, which fault happens, and what must hold afterwards. A new one
/// is a file in scenarios/ and a row in scenarios.cpp.
struct Scenario {
  std::string_view name;
  std::uint32_t weight;  ///< Relative frequency.
  /// Sets the random members of the case. `ground`, `ranks` and `victim` are already set.
  void (*draw)(Random& random, FaultCase& drawn);
  /// Runs one rank, which records its results.
  void (*play)(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
  /// Compares the records of the ranks with what tutti promises. The promised times are for an idle
  /// machine; they are multiplied by `patience`.
  CaseResult (*judge)(const FaultCase& fault_case, const Board& board, double patience);
  /// Describes what draw() has set.
  std::string (*words)(const FaultCase& drawn);
  /// The row of the result table for the case.
  std::string (*label)(const FaultCase& drawn);
};

[[nodiscard]] std::span<const Scenario> scenarios();
[[nodiscard]] const Scenario& scenario_of(const FaultCase& fault_case);

}  // namespace tutti::test
