#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

/// A reference for f16 and bf16, one bit pattern at a time; the kernels are compared with it.
namespace tutti::test {

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline float from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    if (fraction == 0) return sign * INFINITY;
    return std::bit_cast<float>((static_cast<std::uint32_t>(bits & 0x8000) << 16) | 0x7F800000U |
                                static_cast<std::uint32_t>(fraction) << 13);
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

/// Rounds to nearest, ties to even, by comparing both neighbours.
template <class FromBits>
std::uint16_t round_to_nearest_even(float value, std::uint16_t infinity, FromBits from_bits) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double target = std::fabs(static_cast<double>(value));
  std::uint16_t low = 0;  // The largest magnitude not above the target.
  std::uint16_t high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (static_cast<double>(from_bits(middle)) <= target ? low : high) = middle;
  }
  if (static_cast<double>(from_bits(infinity)) <= target) return sign | infinity;
  const double below = from_bits(low);
  // Infinity has the value of the next number, as if the exponent range continued.
  const double step = below - static_cast<double>(from_bits(static_cast<std::uint16_t>(low - 1)));
  const double above = high == infinity ? below + step : static_cast<double>(from_bits(high));
  const double to_below = target - below;
  const double to_above = above - target;
  const bool up = to_above < to_below || (to_above == to_below && low % 2 == 1);
  return sign | (up ? high : low);
}

inline std::uint16_t to_f16(float value) { return round_to_nearest_even(value, 0x7C00, from_f16); }
inline std::uint16_t to_bf16(float value) {
  return round_to_nearest_even(value, 0x7F80, from_bf16);
}

}  // namespace tutti::test
