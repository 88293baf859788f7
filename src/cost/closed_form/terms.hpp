#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <tutti/schedule/closed_form.hpp>

/// Building blocks of the formulas of all collectives.
namespace tutti::formula {

/// The α-β-γ model with one kind of link.
struct Model {
  LinkCost link;
  double gamma = 0;
  bool one_port = true;

  /// The time of a message.
  [[nodiscard]] double message(double bytes) const { return link.alpha + bytes * link.beta; }
  /// The time of adding.
  [[nodiscard]] double sum(double bytes) const { return bytes * gamma; }
};

/// No value if there is no formula.
using Seconds = std::optional<double>;

/// In the shape G x N, G is the number of ranks per node and N the number of nodes.
[[nodiscard]] inline std::uint64_t in_node(const Shape& shape) { return shape.dimensions[0]; }
[[nodiscard]] inline std::uint64_t nodes(const Shape& shape) { return shape.dimensions[1]; }

/// ⌊log₂ p⌋ and ⌈log₂ p⌉: h and L in the formulas.
[[nodiscard]] constexpr std::uint32_t floor_log(std::uint64_t p) {
  return static_cast<std::uint32_t>(std::bit_width(p)) - 1;
}
[[nodiscard]] constexpr std::uint32_t ceil_log(std::uint64_t p) {
  return static_cast<std::uint32_t>(std::bit_width(p - 1));
}

/// How many of the numbers 0 … p−1 have bit number `bit` set.
[[nodiscard]] constexpr std::uint64_t with_bit(std::uint64_t p, std::uint32_t bit) {
  const std::uint64_t worth = std::uint64_t{1} << bit;
  const std::uint64_t rest = p % (2 * worth);
  return p / (2 * worth) * worth + (rest > worth ? rest - worth : 0);
}

/// The number of set bits in all numbers below p together: S in the formulas. A block of a binomial
/// scatter makes one hop for each set bit in the number of its owner. A block of Bruck's alltoall
/// makes one for each set bit in its distance.
[[nodiscard]] constexpr std::uint64_t bits_below(std::uint64_t p) {
  std::uint64_t bits = 0;
  for (std::uint32_t bit = 0; bit < ceil_log(p); ++bit) bits += with_bit(p, bit);
  return bits;
}

/// The number of ranks in the largest subtree below the root of a binomial tree: that of the
/// farthest child or, if p is just above a power of two, of the next one. Also the number of blocks
/// in the largest message of Bruck's allgather. Requires: p ≥ 2.
[[nodiscard]] constexpr std::uint64_t largest_branch(std::uint64_t p) {
  const std::uint64_t half = std::bit_ceil(p) / 2;
  return p - half > half / 2 ? p - half : half / 2;
}

/// Makes the functions of ClosedForm from formulas in p and n, in the shape and n, or in the
/// problem and n if the algorithm has parameters. A single rank has nothing to do, so the formulas
/// may assume p ≥ 2.
template <auto expression>
Figures figures(const Problem& problem, std::uint64_t n) {
  if (problem.ranks < 2) return {};
  if constexpr (std::is_invocable_v<decltype(expression), const Shape&, std::uint64_t>) {
    return expression(problem.shape, n);
  } else if constexpr (std::is_invocable_v<decltype(expression), const Problem&, std::uint64_t>) {
    return expression(problem, n);
  } else {
    return expression(problem.ranks, n);
  }
}

template <auto expression>
Seconds time(const Problem& problem, std::uint64_t n, const LinkCost& link, double gamma,
             Ports ports) {
  if (problem.ranks < 2) return 0.0;
  const Model model{.link = link, .gamma = gamma, .one_port = ports == Ports::one};
  if constexpr (std::is_invocable_v<decltype(expression), const Shape&, double, const Model&>) {
    return expression(problem.shape, static_cast<double>(n), model);
  } else if constexpr (std::is_invocable_v<decltype(expression), const Problem&, double,
                                           const Model&>) {
    return expression(problem, static_cast<double>(n), model);
  } else {
    return expression(problem.ranks, static_cast<double>(n), model);
  }
}

}  // namespace tutti::formula
