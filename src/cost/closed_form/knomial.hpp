#pragma once

#include <algorithm>

#include "cost/closed_form/terms.hpp"

namespace tutti::formula {

/// A k-nomial tree over p ranks.
struct Knomial {
  std::uint64_t k;
  std::uint32_t levels = 0;    ///< ⌈log_k p⌉
  std::uint64_t span = 1;      ///< k^(levels−1): the ranks below a full child of the root.
  std::uint64_t children = 0;  ///< Those of the root in the first round: ⌈p/span⌉ − 1.

  /// Requires: p ≥ 2.
  Knomial(std::uint64_t p, std::uint64_t radix) : k(radix), levels(1) {
    for (; span * k < p; span *= k) ++levels;
    children = (p - 1) / span;
  }

  /// All children of the root: M in the formulas. No rank has more.
  [[nodiscard]] std::uint64_t degree() const { return children + (k - 1) * (levels - 1); }
  [[nodiscard]] std::uint64_t most_in_a_round() const {
    return levels > 1 ? std::max(children, k - 1) : children;
  }
};

/// The number of digits that are not 0, in base k, of all numbers below p together.
[[nodiscard]] constexpr std::uint64_t digits_below(std::uint64_t p, std::uint64_t k) {
  std::uint64_t digits = 0;
  for (std::uint64_t worth = 1; worth < p; worth *= k) {
    const std::uint64_t zero = p / (k * worth) * worth + std::min(p % (k * worth), worth);
    digits += p - zero;
  }
  return digits;
}

/// The most digits that are not 0 in any number below p: the height of the tree.
[[nodiscard]] constexpr std::uint32_t most_digits(std::uint64_t p, std::uint64_t k) {
  std::uint32_t digits = 0;
  for (std::uint64_t ones = 1; ones < p; ones = ones * k + 1) ++digits;
  return digits;
}

}  // namespace tutti::formula
