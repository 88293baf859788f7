#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/network/optimum.hpp>

#include "topology/max_flow.hpp"

namespace tutti {

/// The bandwidths of a network as whole multiples of a common unit, which is 2^-shift · factor
/// bytes per second. Exact: every double is a whole multiple of some power of 2.
struct WholeUnits {
  std::vector<std::uint64_t> of_link{};
  std::uint64_t factor = 1;
  std::uint32_t shift = 0;

  /// `above`/`below` units, as bytes per second in lowest terms. Throws unsupported if that does
  /// not fit in 64 bits.
  [[nodiscard]] Fraction rate(Wide above, Wide below) const;
  /// Bytes per second.
  [[nodiscard]] double rounded(Wide units) const;
};

/// Throws unsupported if the bandwidths have no common divisor whose multiples fit in 64 bits.
[[nodiscard]] WholeUnits whole_units(const Network& network);

/// Throws unsupported if the fraction in lowest terms does not fit in 64 bits.
[[nodiscard]] Fraction lowest_terms(Wide above, Wide below);

}  // namespace tutti
