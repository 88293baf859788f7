#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/report.hpp"
#include "cli/versus/contender.hpp"

namespace tutti::cli {

/// What one contender has come to in one case.
struct VersusResult {
  Contender who{};
  BenchFinding finding{};         ///< Its times are medians over the rounds.
  std::vector<double> medians{};  ///< Of each round, in microseconds.
  std::string algorithm{};        ///< As its library calls it; empty if it does not tell.

  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

/// All contenders in one case. The first is tutti, whom the others are compared with.
using VersusResults = std::vector<VersusResult>;

/// How many times as long as tutti this takes: above 1, tutti is faster.
[[nodiscard]] double ratio(const VersusResults& all, const VersusResult& one);
/// Whether every round of one was faster than every round of the other; if not, the spread is too
/// wide to say who is faster.
[[nodiscard]] bool is_conclusive(const VersusResults& all, const VersusResult& one);
/// The fastest of each library but tutti, in the order of their first appearance; tutti's others
/// each for itself.
[[nodiscard]] std::vector<const VersusResult*> best_of_each(const VersusResults& all);

/// A whole run of `tutti bench --vs`.
struct VersusReport {
  BenchReport tutti{};                   ///< The rows of the one that others are compared with.
  std::vector<VersusResults> results{};  ///< For each row.
  std::size_t rounds = 0;
  double seconds = 0;                             ///< Of a turn.
  std::map<std::string, std::string> versions{};  ///< Of the libraries that took part.
  std::vector<std::pair<std::string, std::string>> failures{};  ///< Who dropped out, and why.
  int interrupted = 0;  ///< The signal that ended it early, after the rows that are here.

  /// Wrong elements of all contenders.
  [[nodiscard]] std::uint64_t wrong() const;

  [[nodiscard]] std::string json() const;
  /// A line for each row and contender.
  [[nodiscard]] std::string csv() const;
};

/// The lines below tutti's own in the table, one for the best of each library: how many times as
/// long it takes, its figures, and its setting.
[[nodiscard]] std::string versus_lines(const BenchRow& row, const VersusResults& results);

}  // namespace tutti::cli
