#pragma once

#include <functional>

#include <tutti/communicator.hpp>

#include "cli/measure/report.hpp"
#include "cli/measure/workload.hpp"

namespace tutti::measure {

/// Functions that rank 0 calls while it measures. Empty ones are skipped.
struct BenchObserver {
  std::function<void(const Report&)> begin{};  ///< Everything but the rows is known.
  std::function<void(const Row&)> row{};       ///< After each case.
};

/// Measures the workload as one rank of the communicator, together with all others. All ranks
/// return the same rows, but only rank 0 has limits in them.
[[nodiscard]] Report bench(Communicator& communicator, const Workload& workload,
                           const BenchObserver& observer = {});

}  // namespace tutti::measure
