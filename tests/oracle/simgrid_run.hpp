#pragma once

#include "oracle_case.hpp"

namespace tutti::oracle {

/// How SimGrid is driven.
enum class Actors {
  /// Two for each rank, one that sends and one that receives: what tutti's ports do.
  two,
  /// One for each rank, which ends all of a round before it begins the next: what is usually
  /// written, and what SimGrid runs fastest.
  one,
};

/// How exact SimGrid is asked to be. Where messages wait for each other round after round on a
/// crowded network, what it leaves out by default grows to more than 1 %.
enum class Accuracy {
  usual,  ///< Its defaults: lazy updates of rates, and moments within 1 ns are one.
  fine,   ///< All rates anew at every moment, and moments within 1 ps are one.
};

/// Simulated seconds of a case in SimGrid, by its model CM02. Once in a process: SimGrid has one
/// engine.
[[nodiscard]] double run_in_simgrid(const Case& which, Actors actors, Accuracy accuracy);

}  // namespace tutti::oracle
