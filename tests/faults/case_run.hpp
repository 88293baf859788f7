#pragma once

#include <string>
#include <vector>

#include "faults/fault_case.hpp"

namespace tutti::test {

/// The result of a case.
struct CaseResult {
  std::vector<std::string> wrong{};  ///< The broken promises; empty if none.
  /// From the fault, or from the time at which others could first notice it, to the last error.
  double detection_s = 0;
  /// From the last error to the last correct result in the shrunk group.
  double recovery_s = 0;
  bool hung = false;
};

/// Starts the ranks of the case, lets the fault happen, and checks what they recorded. Ranks that
/// hang are killed after their stacks have been recorded. The promised times are for an idle
/// machine; they are multiplied by `patience`.
[[nodiscard]] CaseResult run_case(const FaultCase& fault_case, double patience);

}  // namespace tutti::test
