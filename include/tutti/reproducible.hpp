#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/reduction.hpp>

namespace tutti {

/// What the bits of a reduction may depend on. docs/determinism.md says what each level costs.
///
/// Results that do not depend on the order of contributions have the same bits at every level:
/// those of integers, and minima and maxima. NaN is NaN at every level, with any sign and payload
/// but at `exact`, where there is one NaN.
enum class Reproducible : std::uint8_t {
  /// On all ranks, and in every run of the same call on as many ranks by the same algorithm.
  run,
  /// Whatever algorithm, transport, size of slices or bucket, in place or not: every element is
  /// ((c₀ ⊕ c₁) ⊕ c₂) ⊕ … over ranks 0 … p − 1, f16 and bf16 in f32 and rounded once.
  order,
  /// Whatever the order of contributions and the number of ranks that bring them. For sum and avg.
  exact,
};

[[nodiscard]] TUTTI_API std::span<const Reproducible> reproducible_levels();
/// "run", "order", "exact".
[[nodiscard]] TUTTI_API std::string_view name(Reproducible level);
/// The inverse of name(). Throws invalid_argument that suggests the nearest name.
[[nodiscard]] TUTTI_API Reproducible parse_reproducible(std::string_view text);

/// Whether contributions may be combined in any order without a change of bits.
[[nodiscard]] inline bool is_associative(const Reduction& reduction, DType dtype) {
  if (reduction.combine() != nullptr) return false;
  const Op op = reduction.op();
  return is_integral(dtype) || op == Op::min || op == Op::max;
}

}  // namespace tutti
