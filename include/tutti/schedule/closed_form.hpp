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

/// What an algorithm costs, by formula and without a schedule: the textbook beside the counted
/// figures, and tested equal to them.
///
/// n is the size of a rank's larger buffer in bytes, as for even_layout(), and must be divisible by
/// the algorithm's number of chunks (alltoall: by the number of ranks), so that all chunks are
/// equal.
struct ClosedForm {
  std::string_view algorithm;  ///< "allreduce/ring"

  /// The formulas as people write them, for p ≥ 2; one rank alone has nothing to do.
  ///
  /// They are in p, n, α, β, γ, with L = ⌈log₂ p⌉ and h = ⌊log₂ p⌋. S counts the bits that are set
  /// in all numbers below p together: p·L/2 if p = 2^L. A shape is G×N, or s₁×s₂×… of d dimensions.
  /// The name of another algorithm stands for its time.
  std::string_view rounds;
  std::string_view bytes;            ///< Sent by all ranks together.
  std::string_view most_in_a_round;  ///< Sent by one rank in one round.
  std::string_view seconds;          ///< With one port.

  /// Requires: the algorithm does not refuse the problem.
  Figures (*figures)(const Problem& problem, std::uint64_t n);

  /// The time in the α-β-γ model, as Pricer finds it; none where no formula is known for this p or
  /// these ports. Where that is so with one port, `seconds` says it.
  /// Requires: the algorithm does not refuse the problem.
  std::optional<double> (*time)(const Problem& problem, std::uint64_t n, const LinkCost& link,
                                double gamma, Ports ports);
};

/// All closed forms there are, in the order of the table of algorithms. An algorithm need not have
/// one: what it costs is then counted from its schedule.
[[nodiscard]] TUTTI_API std::span<const ClosedForm> closed_forms();

/// That of one algorithm; null if it has none.
[[nodiscard]] TUTTI_API const ClosedForm* find_closed_form(std::string_view algorithm);

/// That of one algorithm. Throws invalid_argument that suggests the nearest name.
[[nodiscard]] TUTTI_API const ClosedForm& closed_form(std::string_view algorithm);

}  // namespace tutti
