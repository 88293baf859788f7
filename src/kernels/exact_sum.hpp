#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

/// A floating-point format in the layout of IEEE 754.
struct FloatFormat {
  int precision;      ///< Bits of the significand, including the leading one.
  int exponent_bits;  ///< Bits of the exponent field, which is all ones for infinity and NaN.

  [[nodiscard]] constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << (precision - 1);
  }
  /// The only NaN that exact sums return.
  [[nodiscard]] constexpr std::uint64_t nan() const {
    return infinity() | std::uint64_t{1} << (precision - 2);
  }
  [[nodiscard]] constexpr std::uint64_t sign() const {
    return std::uint64_t{1} << (precision - 1 + exponent_bits);
  }
  friend constexpr bool operator==(const FloatFormat&, const FloatFormat&) = default;

  [[nodiscard]] constexpr std::size_t bytes() const {
    return static_cast<std::size_t>(precision + exponent_bits) / 8;
  }
};

inline constexpr FloatFormat f16_format{11, 5};
inline constexpr FloatFormat bf16_format{8, 8};
inline constexpr FloatFormat f32_format{24, 8};
inline constexpr FloatFormat f64_format{53, 11};

/// The bits of the exact sum of element `index` of each of up to 2³⁰ operands in one format,
/// rounded once to nearest even. A sum of zero is +0. The result is NaN if an operand is NaN or
/// there are infinities of both signs.
///
/// This is Kulisch's long accumulator: a fixed-point number as wide as the range of the operands'
/// exponents, in digits of 32 bits that carry only at the end.
[[nodiscard]] std::uint64_t exact_sum(const FloatFormat& format, const void* const* operands,
                                      std::size_t count, std::size_t index);

}  // namespace tutti
