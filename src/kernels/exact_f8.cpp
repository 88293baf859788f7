#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/exact_fold.hpp"

namespace tutti {
namespace {

/// An 8-bit format: see DType.
struct Format {
  int fraction_bits;
  int least_exponent;      ///< Of normal numbers.
  std::uint32_t overflow;  ///< The bits of the result if the sum is too large.
  std::uint32_t nan;
};

constexpr Format e4m3{.fraction_bits = 3, .least_exponent = -6, .overflow = 0x7F, .nan = 0x7F};
constexpr Format e5m2{.fraction_bits = 2, .least_exponent = -14, .overflow = 0x7C, .nan = 0x7E};

constexpr std::uint32_t sign_bit = 0x80;

double decoded(const Format& format, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & ~sign_bit;
  const double sign = (bits & sign_bit) != 0 ? -1 : 1;
  if (magnitude >= format.overflow) {
    return magnitude == format.overflow && format.overflow != format.nan
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint32_t leading = 1U << static_cast<unsigned>(format.fraction_bits);
  const std::uint32_t exponent = magnitude / leading;
  const std::uint32_t significand = magnitude % leading + (exponent > 0 ? leading : 0);
  return sign * std::ldexp(significand, static_cast<int>(std::max(exponent, 1U)) - 1 +
                                            format.least_exponent - format.fraction_bits);
}

/// A NaN has no sign.
std::uint8_t overflowed(const Format& format, std::uint32_t sign) {
  const bool is_nan = format.overflow == format.nan;
  return static_cast<std::uint8_t>(is_nan ? format.nan : sign | format.overflow);
}

/// Rounds to nearest even.
std::uint8_t encoded(const Format& format, double sum) {
  if (std::isnan(sum)) return static_cast<std::uint8_t>(format.nan);
  const std::uint32_t sign = std::signbit(sum) ? sign_bit : 0;
  if (sum == 0) return 0;
  const double magnitude = std::fabs(sum);
  if (magnitude >= 0x1p17) return overflowed(format, sign);
  const int exponent = std::max(std::ilogb(magnitude), format.least_exponent);
  // Up to twice the leading bit: a carry goes on into the exponent.
  const auto rounded = static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));
  const std::uint32_t bits =
      (static_cast<std::uint32_t>(exponent - format.least_exponent) << format.fraction_bits) +
      rounded;
  return bits < format.overflow ? static_cast<std::uint8_t>(sign | bits) : overflowed(format, sign);
}

/// All numbers are multiples of 2⁻¹⁶ and below 2¹⁶, so that f64 adds 2²¹ of them exactly.
template <const Format& format>
void sum_exactly(void* out, void* copy, const void* const* in, std::size_t operands,
                 std::size_t count) {
  static const std::array<double, 256> numbers = [] {
    std::array<double, 256> made{};
    for (std::uint32_t bits = 0; bits < made.size(); ++bits) made[bits] = decoded(format, bits);
    return made;
  }();
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < operands; ++k) {
      sum += numbers[static_cast<const std::uint8_t*>(in[k])[i]];
    }
    const std::uint8_t bits = encoded(format, sum);
    static_cast<std::uint8_t*>(out)[i] = bits;
    if (copy != nullptr) static_cast<std::uint8_t*>(copy)[i] = bits;
  }
}

}  // namespace

Fold exact_fold_f8e4m3() { return sum_exactly<e4m3>; }
Fold exact_fold_f8e5m2() { return sum_exactly<e5m2>; }

}  // namespace tutti
