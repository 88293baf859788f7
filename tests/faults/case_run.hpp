#pragma once

#include <string>
#include <vector>

#include "faults/fault_case.hpp"

namespace tutti::test {

/// How a case went.
struct CaseResult {
  std::vector<std::string> wrong{};  ///< Which promise was broken; empty if none.
  /// From the fault, or from when the others could first notice it, to the last one's error.
  double detection_s = 0;
  /// From the last error to the last one's right result in what is left of the group.
  double recovery_s = 0;
  bool hung = false;
};

/// Starts the ranks of the case, lets it happen, and judges what they have written down. Ranks that
/// hang are killed, after it was written down where. Times are judged as promised on a machine that
/// has nothing else to do, and else to be multiplied by `patience`.
[[nodiscard]] CaseResult run_case(const FaultCase& fault_case, double patience);

}  // namespace tutti::test
