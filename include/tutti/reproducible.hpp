#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/reduction.hpp>

namespace tutti {

/// A guarantee about the bits of a reduction. docs/determinism.md gives the cost of each level.
///
/// Integer results, minima and maxima do not depend on the order of contributions. They have the
/// same bits at every level. NaN stays NaN at every level. Its sign and payload are unspecified,
/// except at `exact`, which yields a single NaN.
enum class Reproducible : std::uint8_t {
  /// Same bits on all ranks, and in every run of the same call with the same algorithm and number
  /// of ranks.
  run,
  /// Also the same bits for every algorithm, transport, slice size and bucket size, in place or
  /// not. Every element is ((c₀ ⊕ c₁) ⊕ c₂) ⊕ … over ranks 0 … p − 1. f16 and bf16 are added in f32
  /// and rounded once.
  order,
  /// Also the same bits for every order of contributions and every number of ranks. For sum and
  /// avg.
  exact,
};

[[nodiscard]] TUTTI_API std::span<const Reproducible> reproducible_levels();
/// "run", "order", "exact".
[[nodiscard]] TUTTI_API std::string_view name(Reproducible level);
/// The inverse of name(). Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API Reproducible parse_reproducible(std::string_view text);

/// True if the order of contributions does not change the bits of the result.
[[nodiscard]] inline bool is_associative(const Reduction& reduction, DType dtype) {
  if (reduction.combine() != nullptr) return false;
  const Op op = reduction.op();
  return is_integral(dtype) || op == Op::min || op == Op::max;
}

}  // namespace tutti
