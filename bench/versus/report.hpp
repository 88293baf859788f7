#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/measure/report.hpp"
#include "versus/contender.hpp"

namespace tutti::cli {

/// The result of one contender in one case.
struct VersusResult {
  Contender who{};
  measure::Finding finding{};     ///< Its times are medians over the rounds.
  std::vector<double> medians{};  ///< Of each round, in microseconds.
  std::string algorithm{};        ///< The name in its library; empty if unknown.

  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

/// All contenders in one case. The first is tutti, the reference.
using VersusResults = std::vector<VersusResult>;

/// The time relative to tutti: above 1, tutti is faster.
[[nodiscard]] double ratio(const VersusResults& all, const VersusResult& one);
/// True if every round of one contender was faster than every round of the other. Otherwise the
/// spread is too wide to tell which is faster.
[[nodiscard]] bool is_conclusive(const VersusResults& all, const VersusResult& one);
/// The fastest contender of each other library, in the order of their first appearance, and all
/// further contenders of tutti.
[[nodiscard]] std::vector<const VersusResult*> best_of_each(const VersusResults& all);

/// A whole run of `tutti bench --vs`.
struct VersusReport {
  measure::Report tutti{};               ///< The rows of the reference.
  std::vector<VersusResults> results{};  ///< For each row.
  std::size_t rounds = 0;
  double seconds = 0;                             ///< Of a turn.
  std::map<std::string, std::string> versions{};  ///< Of the libraries that took part.
  std::vector<std::pair<std::string, std::string>> failures{};  ///< Name and reason.
  int interrupted = 0;  ///< The signal that ended the run after these rows; 0 if none.

  /// The wrong elements of all contenders.
  [[nodiscard]] std::uint64_t wrong() const;

  [[nodiscard]] std::string json() const;
  /// One line for each row and contender.
  [[nodiscard]] std::string csv() const;
};

/// One line for tutti and one for the fastest setting of each library.
[[nodiscard]] std::string plot_of(const VersusReport& report);

/// The lines below tutti's row in the table, one for the best of each library: its relative time,
/// its figures, and its setting.
[[nodiscard]] std::string versus_lines(const measure::Row& row, const VersusResults& results);

}  // namespace tutti::cli
