#pragma once

#include "oracle_case.hpp"

namespace tutti::oracle {

/// The number of SimGrid actors per rank.
enum class Actors {
  /// Two per rank, a sender and a receiver: equivalent to tutti's ports.
  two,
  /// One per rank, which completes a round before it begins the next: the usual way to write it,
  /// and
  /// the fastest in SimGrid.
  one,
};

/// The accuracy of SimGrid. If messages depend on each other over many rounds on a congested
/// network, the errors of its defaults grow to more than 1 %.
enum class Accuracy {
  usual,  ///< Its defaults: lazy rate updates, and times within 1 ns are equal.
  fine,   ///< All rates computed again at every event, and times within 1 ps are equal.
};

/// The simulated seconds of a case in SimGrid, with its model CM02. Once per process, since SimGrid
/// has one engine.
[[nodiscard]] double run_in_simgrid(const Case& which, Actors actors, Accuracy accuracy);

}  // namespace tutti::oracle
