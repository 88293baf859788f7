#pragma once

#include <utility>
#include <vector>

#include "verify/symbolic_run.hpp"

namespace tutti {

/// The unit of progress: a receive together with the matching sends, or a local step.
struct Event {
  Rank rank;
  std::size_t step;
};

/// The events round by round; in each round the receives come before the local steps. The events
/// can run in this order if no two messages of a round conflict and both ends of every message are
/// in the same round. Then everything that a message waits for is in an earlier round, and
/// everything that a local step waits for is before it, so the schedule cannot deadlock.
[[nodiscard]] std::vector<Event> order_by_round(const Schedule& schedule);

/// An order that follows from what the steps read and write; rounds are ignored. A send waits until
/// its receive is ready. A step waits for earlier steps of its program that touch the same bytes,
/// unless both read, and for earlier messages between the same two ranks. Cycles are reported.
/// Their steps are left out, together with all steps that wait for them.
[[nodiscard]] std::vector<Event> order_by_dependence(const SymbolicRun& run, Findings& findings);

}  // namespace tutti
