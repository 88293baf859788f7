#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>

#include "cli/measure/progress.hpp"
#include "select/reach.hpp"

namespace tutti::measure {

/// One call: the algorithm that tutti chose, and the predicted and measured times of every
/// algorithm.
struct RegretRow {
  struct Runner {
    std::string algorithm{};
    double seconds = 0;
    double expected = 0;  ///< By the profile.
    double modelled = 0;  ///< By the model of the profile alone.
  };

  Collective collective{};
  std::uint64_t bytes = 0;
  std::uint32_t ranks = 0;
  Pairs pairs = Pairs::host;
  std::string chosen{};
  std::vector<Runner> runners{};  ///< The fastest first.

  [[nodiscard]] const Runner& choice() const;
  /// The time of the chosen algorithm divided by the time of the fastest.
  [[nodiscard]] double regret() const { return choice().seconds / runners.front().seconds; }
};

/// What to measure.
struct RegretTask {
  std::vector<Collective> collectives{};
  std::vector<std::uint64_t> sizes{};
  double seconds = 0.01;  ///< For each algorithm and round.
  /// For everything. Algorithms that are predicted to be the slowest, and then the largest sizes,
  /// are left out if there is not enough time.
  double time = std::numeric_limits<double>::infinity();
};

/// An algorithm that took this many times as long as the fastest in the first round is not
/// measured again.
inline constexpr double hopeless_regret = 1.6;

/// Runs every algorithm for every case, in turns, together with the other ranks. The rows are in
/// order of collective and size.
[[nodiscard]] std::vector<RegretRow> measure_regret(Communicator& communicator,
                                                    const RegretTask& task,
                                                    const Progress& progress = {});

/// Combines the same rows of several runs: the typical time of each algorithm. A run may lack rows
/// and algorithms, but not the chosen one.
[[nodiscard]] std::vector<RegretRow> combine(const std::vector<std::vector<RegretRow>>& runs);

/// As JSON.
[[nodiscard]] std::string write(const std::vector<RegretRow>& rows);
/// The inverse of write().
[[nodiscard]] std::vector<RegretRow> read_regret(const std::string& text);

}  // namespace tutti::measure
