#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>

namespace tutti::cli {

/// One call: what tutti chose, what it foretold, and what was then measured of every algorithm.
struct RegretRow {
  struct Runner {
    std::string algorithm{};
    double seconds = 0;
    double expected = 0;  ///< By the profile,
    double modelled = 0;  ///< and by its model alone.
  };

  Collective collective{};
  std::uint64_t bytes = 0;
  std::uint32_t ranks = 0;
  std::string pairs{};
  std::string chosen{};
  std::vector<Runner> runners{};  ///< The fastest first.

  [[nodiscard]] const Runner& choice() const;
  /// How many times as long the chosen one took as the fastest.
  [[nodiscard]] double regret() const { return choice().seconds / runners.front().seconds; }
};

/// What is to be measured.
struct RegretWishes {
  std::vector<Collective> collectives{};
  std::vector<std::uint64_t> sizes{};
  double seconds = 0.01;  ///< For each algorithm and round.
};

/// Of the same rows from several runs, what is typical of each runner.
[[nodiscard]] std::vector<RegretRow> combine(const std::vector<std::vector<RegretRow>>& runs);

/// Lets every algorithm run for every case, taking turns, together with the other ranks.
[[nodiscard]] std::vector<RegretRow> measure_regret(Communicator& communicator,
                                                    const RegretWishes& wishes);

[[nodiscard]] std::string write(const std::vector<RegretRow>& rows);
/// The inverse of write().
[[nodiscard]] std::vector<RegretRow> read_regret(const std::string& text);

/// The table, and what it comes to.
[[nodiscard]] std::string describe(const std::vector<RegretRow>& rows);

}  // namespace tutti::cli
