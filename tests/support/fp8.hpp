#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <tutti/dtype.hpp>

/// A reference for the 8-bit formats, by comparison with every number that they have; the kernels
/// are compared with it.
namespace tutti::test {

inline float from_f8(DType dtype, std::uint8_t bits) {
  const bool is_e4m3 = dtype == DType::f8e4m3;
  const int fraction_bits = is_e4m3 ? 3 : 2;
  const int bias = is_e4m3 ? 7 : 15;
  const float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
  const int magnitude = bits & 0x7F;
  if (magnitude == 0x7F || (!is_e4m3 && magnitude > 0x7C)) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (!is_e4m3 && magnitude == 0x7C) return sign * std::numeric_limits<float>::infinity();
  const int exponent = magnitude >> fraction_bits;
  const int fraction = magnitude & ((1 << fraction_bits) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
  return sign * std::ldexp(static_cast<float>(significand),
                           (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

/// To nearest, ties to even. Beyond the largest number the formats go on as if they had another
/// one, which stands for infinity or NaN.
inline std::uint8_t to_f8(DType dtype, double value) {
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const bool is_e4m3 = dtype == DType::f8e4m3;
  if (std::isnan(value)) return is_e4m3 ? 0x7F : sign | 0x7E;
  const std::uint8_t beyond = is_e4m3 ? 0x7F : 0x7C;
  const double target = std::fabs(value);
  const auto number = [&](std::uint8_t bits) {
    return bits == beyond ? (is_e4m3 ? 480.0 : 65536.0) : static_cast<double>(from_f8(dtype, bits));
  };
  std::uint8_t best = 0;
  for (std::uint8_t bits = 0; bits <= beyond; ++bits) {
    const double distance = std::fabs(number(bits) - target);
    const double least = std::fabs(number(best) - target);
    if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
  }
  return is_e4m3 && best == beyond ? best : sign | best;
}

}  // namespace tutti::test
