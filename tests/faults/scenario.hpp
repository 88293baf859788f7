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

/// A kind of case: what the ranks do, what happens to them, and what must hold afterwards. A new
/// one is a file in scenarios/ and a row in scenarios.cpp.
struct Scenario {
  std::string_view name;
  std::uint32_t weight;  ///< How often it is drawn, compared with the others.
  /// Sets what the case leaves to chance. `ground`, `ranks` and `victim` are drawn before.
  void (*draw)(Random& random, FaultCase& drawn);
  /// What one rank does. It writes down how it went.
  void (*play)(Communicator& communicator, const FaultCase& fault_case, BoardLine& line);
  /// Compares what the ranks have written down with what tutti promises. Times are those of a
  /// machine that has nothing else to do, and may be `patience` times as long.
  CaseResult (*judge)(const FaultCase& fault_case, const Board& board, double patience);
  /// What draw() has set, for people.
  std::string (*words)(const FaultCase& drawn);
  /// The row of the result table that the case belongs to.
  std::string (*label)(const FaultCase& drawn);
};

[[nodiscard]] std::span<const Scenario> scenarios();
[[nodiscard]] const Scenario& scenario_of(const FaultCase& fault_case);

}  // namespace tutti::test
