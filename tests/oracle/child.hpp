#pragma once

#include <functional>
#include <optional>

namespace tutti::oracle {

/// The result of work in a child process.
struct Outcome {
  double value = 0;
  double wall = 0;       // Seconds.
  double megabytes = 0;  // Peak memory.
};

/// Runs `work` in a child process; empty if that fails. SimGrid can run only once per process, and
/// the peak memory of a run can be measured only so.
[[nodiscard]] std::optional<Outcome> in_a_child(const std::function<double()>& work);

}  // namespace tutti::oracle
