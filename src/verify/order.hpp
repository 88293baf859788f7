#pragma once

#include <utility>
#include <vector>

#include "verify/symbolic_run.hpp"

namespace tutti {

/// A receive, together with the sends that it meets, or a local step: the unit of progress.
struct Event {
  Rank rank;
  std::size_t step;
};

/// The events round by round, in each the receives before the local steps. An order in which they
/// can run if no two messages of a round conflict and both ends of every message are in the same
/// round, because then everything that a message waits for lies in an earlier round, and what a
/// local step waits for, at the latest, before it in its own: such a schedule cannot deadlock.
[[nodiscard]] std::vector<Event> order_by_round(const Schedule& schedule);

/// An order that follows from what steps read and write, with no regard to rounds. A send waits for
/// its receive to be ready, and every step for those before it in its program that touch the same
/// bytes, unless both read, or are between the same two ranks. Steps that wait for each other in a
/// circle are reported, and left out with all that wait for them.
[[nodiscard]] std::vector<Event> order_by_dependence(const SymbolicRun& run, Findings& findings);

}  // namespace tutti
