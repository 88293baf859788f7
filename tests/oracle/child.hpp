#pragma once

#include <functional>
#include <optional>

namespace tutti::oracle {

/// What came of work in a process of its own.
struct Outcome {
  double value = 0;
  double wall = 0;       // Seconds.
  double megabytes = 0;  // The most memory that it had.
};

/// Runs `work` in a child process; none if that fails. SimGrid can run once in a process, and
/// memory can be told apart only so.
[[nodiscard]] std::optional<Outcome> in_a_child(const std::function<double()>& work);

}  // namespace tutti::oracle
