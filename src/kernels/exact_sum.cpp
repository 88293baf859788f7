#include "kernels/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace tutti {
namespace {

constexpr int digit_bits = 32;
constexpr std::int64_t digit_mask = 0xFFFFFFFF;
// Room for all exponents of f64, a significand at the end, and the carries of 2³⁰ addends.
constexpr std::size_t most_digits = 2046 / digit_bits + 6;

/// The bits of an element.
template <std::size_t bytes>
std::uint64_t bits_at(const void* data, std::size_t index) {
  std::uint64_t bits = 0;
  // The first bytes are the lowest: tutti requires a little-endian machine.
  std::memcpy(&bits, static_cast<const std::byte*>(data) + index * bytes, bytes);
  return bits;
}

/// A summary of the operands: special values, and the range of exponents of the others.
struct Survey {
  bool has_nan = false;
  bool has_infinity = false;
  bool has_minus_infinity = false;
  int least = 1 << 12;  // Exponent fields; a field of 0 counts as 1.
  int largest = 0;

  template <FloatFormat format>
  void look_at(std::uint64_t bits) {
    const std::uint64_t magnitude = bits & (format.sign() - 1);
    if (magnitude >= format.infinity()) {
      const bool is_negative = (bits & format.sign()) != 0;
      has_nan |= magnitude > format.infinity();
      has_infinity |= magnitude == format.infinity() && !is_negative;
      has_minus_infinity |= magnitude == format.infinity() && is_negative;
    } else if (magnitude > 0) {
      const int exponent = std::max(1, static_cast<int>(magnitude >> (format.precision - 1)));
      least = std::min(least, exponent);
      largest = std::max(largest, exponent);
    }
  }
};

/// Normalises every digit to 0 … 2³² − 1 and returns the carry out of the last.
std::int64_t carry(std::span<std::int64_t> digits) {
  std::int64_t carried = 0;
  for (std::int64_t& digit : digits) {
    const std::int64_t sum = digit + carried;
    carried = sum >> digit_bits;
    digit = sum & digit_mask;
  }
  return carried;
}

/// The 64 bits from bit `begin` on of the number that the digits form. Bits below bit 0 are zero.
std::uint64_t bits_from(std::span<const std::int64_t> digits, int begin) {
  if (begin <= -64) return 0;
  if (begin < 0) return bits_from(digits, 0) << -begin;
  const auto first = static_cast<std::size_t>(begin / digit_bits);
  const auto digit = [&](std::size_t i) {
    return first + i < digits.size() ? static_cast<std::uint64_t>(digits[first + i]) : 0;
  };
  const int shift = begin % digit_bits;
  const std::uint64_t bits = (digit(0) | digit(1) << digit_bits) >> shift;
  return shift == 0 ? bits : bits | digit(2) << (64 - shift);
}

/// True if a bit below bit `end` is set.
bool has_bit_below(std::span<const std::int64_t> digits, int end) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int begin = static_cast<int>(i) * digit_bits;
    if (begin >= end) return false;
    const int bits = std::min(end - begin, digit_bits);
    if ((digits[i] & ((std::int64_t{1} << bits) - 1)) != 0) return true;
  }
  return false;
}

/// Adds a finite number. Bit 0 is the last place of numbers whose exponent field is `least`.
template <FloatFormat format>
void add(std::int64_t* digits, std::uint64_t bits, int least) {
  const std::uint64_t leading = std::uint64_t{1} << (format.precision - 1);
  const auto exponent = static_cast<int>((bits & (format.sign() - 1)) >> (format.precision - 1));
  const std::uint64_t significand = (bits & (leading - 1)) | (exponent > 0 ? leading : 0);
  if (significand == 0) return;
  const int position = std::max(exponent, 1) - least;
  const auto digit = static_cast<std::size_t>(position / digit_bits);
  const int shift = position % digit_bits;
  // Up to 85 bits, starting at bit `shift` of the digit.
  const std::uint64_t low = (significand & 0xFFFFFFFF) << shift;
  const std::uint64_t high = ((significand >> digit_bits) << shift) + (low >> digit_bits);
  const std::int64_t sign = (bits & format.sign()) != 0 ? -1 : 1;
  digits[digit] += sign * static_cast<std::int64_t>(low & 0xFFFFFFFF);
  digits[digit + 1] += sign * static_cast<std::int64_t>(high & 0xFFFFFFFF);
  digits[digit + 2] += sign * static_cast<std::int64_t>(high >> digit_bits);
}

/// Rounds the number that add() has made. Changes the digits.
template <FloatFormat format>
std::uint64_t rounded(std::span<std::int64_t> digits, int least) {
  const bool is_negative = carry(digits) < 0;
  if (is_negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    // The digits represented the sum plus a power of their base, which is removed here.
    (void)carry(digits);
  }
  std::size_t used = digits.size();
  while (used > 0 && digits[used - 1] == 0) --used;
  if (used == 0) return 0;
  const int top = static_cast<int>(used - 1) * digit_bits +
                  std::bit_width(static_cast<std::uint64_t>(digits[used - 1])) - 1;
  // The last place of the result, not below that of the smallest number of the format.
  const int last = std::max(top - (format.precision - 1), 1 - least);
  const std::uint64_t significand = bits_from(digits, last);
  const bool half = bits_from(digits, last - 1) % 2 == 1;
  const bool up = half && (significand % 2 == 1 || has_bit_below(digits, last - 1));
  // A significand that reaches the next power of two correctly carries into the exponent.
  const auto exponent = static_cast<std::uint64_t>(last + least - 1);
  const std::uint64_t magnitude = (exponent << (format.precision - 1)) + significand + (up ? 1 : 0);
  return std::min(magnitude, format.infinity()) | (is_negative ? format.sign() : 0);
}

template <FloatFormat format>
std::uint64_t sum_of(const void* const* operands, std::size_t count, std::size_t index) {
  constexpr std::size_t bytes = format.bytes();
  Survey survey;
  for (std::size_t k = 0; k < count; ++k) {
    survey.look_at<format>(bits_at<bytes>(operands[k], index));
  }
  if (survey.has_nan || (survey.has_infinity && survey.has_minus_infinity)) return format.nan();
  if (survey.has_infinity) return format.infinity();
  if (survey.has_minus_infinity) return format.infinity() | format.sign();
  if (survey.largest == 0) return 0;
  // Use only as many digits as the range of exponents needs.
  const auto range = static_cast<std::size_t>(survey.largest - survey.least);
  std::array<std::int64_t, most_digits> memory;
  const std::span<std::int64_t> digits(memory.data(), range / digit_bits + 4);
  std::ranges::fill(digits, 0);
  for (std::size_t k = 0; k < count; ++k) {
    add<format>(digits.data(), bits_at<bytes>(operands[k], index), survey.least);
  }
  return rounded<format>(digits, survey.least);
}

}  // namespace

std::uint64_t exact_sum(const FloatFormat& format, const void* const* operands, std::size_t count,
                        std::size_t index) {
  if (format == f64_format) return sum_of<f64_format>(operands, count, index);
  if (format == f32_format) return sum_of<f32_format>(operands, count, index);
  if (format == f16_format) return sum_of<f16_format>(operands, count, index);
  return sum_of<bf16_format>(operands, count, index);
}

}  // namespace tutti
