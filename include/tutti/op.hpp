#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tutti/dtype.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// How contributions are combined.
///
/// - `avg` is the sum divided by the number of ranks. Integers round towards zero.
/// - Integers wrap on overflow.
/// - `min` and `max` follow IEEE 754-2019: the result is NaN if an operand is NaN, and −0 < +0.
/// - The product of complex numbers is (ac − bd) + (ad + bc)i, rounded after every operation.
///   Infinities are not recovered as in Annex G of the C standard.
enum class Op : std::uint8_t { sum, prod, min, max, avg, band, bor, bxor };

[[nodiscard]] TUTTI_API std::span<const Op> ops();
[[nodiscard]] TUTTI_API std::string_view name(Op op);
/// The inverse of name(). Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API Op parse_op(std::string_view text);

/// The kind of numbers that the operation accepts: "integers", "real numbers", "numbers".
[[nodiscard]] TUTTI_API std::string_view domain(Op op);

/// True if the operation accepts the type. Bitwise operations accept integers only. Complex numbers
/// have no minimum and maximum.
[[nodiscard]] constexpr bool applies(Op op, DType dtype) {
  if (op >= Op::band) return is_integral(dtype);
  return !is_complex(dtype) || (op != Op::min && op != Op::max);
}

}  // namespace tutti
