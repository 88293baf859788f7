#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/schedule_traits.hpp>

namespace tutti {

/// The number of shape dimensions that an algorithm uses: none, or from `least` to `most`.
struct DimensionRange {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

/// A number that an algorithm depends on, besides the problem: k of
/// "allreduce/recursive_multiplying:k=4".
struct AlgorithmParameter {
  std::string_view name;
  std::string_view summary;
  std::uint32_t least;
  std::uint32_t most;
  std::uint32_t usual;  ///< The value if none is given.
  /// Other values among which the selector and `tutti tune` choose.
  std::span<const std::uint32_t> tried;
};

/// An algorithm for a collective: a pure function from a problem to a schedule.
struct Algorithm {
  /// Also the name of the source file, the command-line argument, the golden file and the anchor in
  /// the documentation: "allreduce/ring". If a parameter has another value than usual, the name
  /// ends with it: "allreduce/recursive_multiplying:k=8". Ends with a zero byte.
  std::string_view name;
  Collective collective;
  std::string_view summary;
  /// The order in which contributions are added; empty if the collective does not reduce.
  std::string_view order;
  DimensionRange dimensions;
  /// Every element is one fold of all contributions in order of rank, for every problem. Stated and
  /// tested, not derived as the other traits(): that would take a proof while a call waits.
  bool folds_in_rank_order = false;
  /// The number of chunks into which it divides the data. See chunk_count().
  std::uint64_t (*chunks)(const Problem& problem);
  /// Builds the program of one rank, in time and memory proportional to the steps of that rank.
  /// Requires: refusal(problem) is empty and self is below problem.ranks. See program().
  Program (*build)(const Problem& problem, Rank self);
  /// True if it has a schedule for the problem, whose dimensions are already checked; null means
  /// every problem. `limits` says the same in words: "a power of two ranks".
  bool (*supports)(const Problem& problem) = nullptr;
  std::string_view limits{};
  /// Its parameters, and their values in the same order.
  std::span<const AlgorithmParameter> parameters{};
  ParameterValues values{};

  [[nodiscard]] bool needs_shape() const { return dimensions.most > 0; }
  /// "allreduce/recursive_multiplying", whatever the values of its parameters.
  [[nodiscard]] std::string_view row_name() const { return name.substr(0, name.find(':')); }

  /// The union of the traits of its schedules for all problems, derived from a few of them when it
  /// is first asked for. Tests compare it with the schedules of many problems.
  [[nodiscard]] TUTTI_API const ScheduleTraits& traits() const;

  /// The problem with the values of this algorithm's parameters.
  [[nodiscard]] TUTTI_API Problem completed(Problem problem) const;
  /// The number of chunks into which it divides the data of a problem.
  [[nodiscard]] TUTTI_API std::uint64_t chunk_count(const Problem& problem) const;

  /// Why it has no schedule for this problem, and what to ask for instead; empty if it has one.
  [[nodiscard]] TUTTI_API std::string refusal(const Problem& problem) const;

  /// The contract of its schedule for the problem. Throws unsupported with the refusal.
  [[nodiscard]] TUTTI_API Contract contract(const Problem& problem) const;
  /// The program of rank `self`. Throws unsupported with the refusal.
  [[nodiscard]] TUTTI_API Program program(const Problem& problem, Rank self) const;
  /// The programs of all ranks. Throws unsupported with the refusal.
  [[nodiscard]] TUTTI_API Schedule schedule(const Problem& problem) const;
};

/// Every algorithm, grouped by collective, with the usual values of its parameters. An algorithm in
/// this table takes part in every test, command and document.
[[nodiscard]] TUTTI_API std::span<const Algorithm> algorithms();

/// The algorithms for one collective.
[[nodiscard]] TUTTI_API std::span<const Algorithm> algorithms(Collective collective);

/// The algorithm of that name: "allreduce/ring", or with values of its parameters
/// "allreduce/recursive_multiplying:k=8". Lives as long as the program. Throws invalid_argument and
/// suggests the nearest name, or says which values are valid.
[[nodiscard]] TUTTI_API const Algorithm& algorithm(std::string_view name);

/// The algorithm itself, then the same with each of the other values to try.
[[nodiscard]] TUTTI_API std::vector<const Algorithm*> variants(const Algorithm& row);

}  // namespace tutti
