#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/problem.hpp>

namespace tutti {

/// The cost of an algorithm by formula, without a schedule. Tests compare it with the figures that
/// are counted from the schedule.
///
/// n is the size in bytes of the larger buffer of a rank, as for even_layout(). It must be
/// divisible by the algorithm's number of chunks (alltoall: by the number of ranks), so that all
/// chunks are equal.
struct ClosedForm {
  std::string_view algorithm;  ///< "allreduce/ring", without values of parameters

  /// The formulas as text, for p ≥ 2; a single rank has nothing to do.
  ///
  /// They use p, n, α, β, γ, with L = ⌈log₂ p⌉ and h = ⌊log₂ p⌋. S is the number of set bits in all
  /// numbers below p together: p·L/2 if p = 2^L. A shape is G×N, or s₁×s₂×… of d dimensions. A
  /// parameter of the algorithm has its own name. The name of another algorithm stands for the time
  /// of that algorithm.
  std::string_view rounds;
  std::string_view bytes;            ///< Sent by all ranks together.
  std::string_view most_in_a_round;  ///< Sent by one rank in one round.
  std::string_view seconds;          ///< With one port.

  /// Requires: the algorithm does not refuse the problem, which it has completed().
  Figures (*figures)(const Problem& problem, std::uint64_t n);

  /// The time in the α-β-γ model, equal to the result of Pricer. No value if no formula is known
  /// for this p or these ports; if that is so with one port, `seconds` says it. Requires: the
  /// algorithm does not refuse the problem, which it has completed().
  std::optional<double> (*time)(const Problem& problem, std::uint64_t n, const LinkCost& link,
                                double gamma, Ports ports);
};

/// All closed forms, in the order of the table of algorithms. Some algorithms have none: their cost
/// is counted from the schedule.
[[nodiscard]] TUTTI_API std::span<const ClosedForm> closed_forms();

/// The closed form of an algorithm, with or without values of its parameters; null if it has none.
[[nodiscard]] TUTTI_API const ClosedForm* find_closed_form(std::string_view algorithm);

/// The closed form of an algorithm. Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API const ClosedForm& closed_form(std::string_view algorithm);

}  // namespace tutti
