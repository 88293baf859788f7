#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tutti/dtype.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// How contributions are combined. `avg` is the sum divided by the number of ranks, towards zero
/// for integers. Integers wrap on overflow. Minimum and maximum are those of IEEE 754-2019: NaN
/// if an operand is, and −0 is below +0. The
/// product of complex numbers is (ac − bd) + (ad + bc)i, rounded after every operation; infinities
/// are not recovered as C's Annex G has it.
enum class Op : std::uint8_t { sum, prod, min, max, avg, band, bor, bxor };

[[nodiscard]] TUTTI_API std::span<const Op> ops();
[[nodiscard]] TUTTI_API std::string_view name(Op op);
/// The inverse of name(). Throws invalid_argument that suggests the nearest name.
[[nodiscard]] TUTTI_API Op parse_op(std::string_view text);

/// The numbers that an operation is for: "integers", "real numbers", "numbers".
[[nodiscard]] TUTTI_API std::string_view domain(Op op);

/// The bitwise ones are for integers only; complex numbers have no minimum and maximum.
[[nodiscard]] constexpr bool applies(Op op, DType dtype) {
  if (op >= Op::band) return is_integral(dtype);
  return !is_complex(dtype) || (op != Op::min && op != Op::max);
}

}  // namespace tutti
