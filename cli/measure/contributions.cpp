#include "cli/measure/contributions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tutti::measure {
namespace {

/// Integers up to this one are exact in the type. Wide types do not need a larger limit.
std::int64_t largest_exact(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return 127;
    case DType::u8:
      return 255;
    case DType::i16:
      return 32'767;
    case DType::u16:
      return 65'535;
    case DType::f8e5m2:
      return 1 << 3;
    case DType::f8e4m3:
      return 1 << 4;
    case DType::bf16:
      return 1 << 8;
    case DType::f16:
      return 1 << 11;
    default:
      return 1 << 24;
  }
}

bool is_signed(DType dtype) {
  return dtype != DType::u8 && dtype != DType::u16 && dtype != DType::u32 && dtype != DType::u64;
}

/// −reach … reach, or 0 … reach for unsigned types.
std::int64_t within(std::int64_t reach, DType dtype, std::uint64_t random) {
  const auto width = static_cast<std::uint64_t>(reach) + 1;
  if (!is_signed(dtype)) return static_cast<std::int64_t>(random % width);
  return static_cast<std::int64_t>(random % (2 * width - 1)) - reach;
}

std::uint64_t scrambled(std::uint64_t seed, std::uint64_t rank, std::uint64_t index) {
  std::uint64_t h = (seed + 1) * 0x7FB5'D329'728E'A185U + (rank + 1) * 0x9E37'79B9'7F4A'7C15U +
                    index * 0xD1B5'4A32'D192'ED03U;
  for (int i = 0; i < 2; ++i) {
    h ^= h >> 32;
    h *= 0xD6E8'FEB8'6659'FD93U;
  }
  return h ^ (h >> 32);
}

std::int64_t combination(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::sum:
    case Op::avg:
      return a + b;
    case Op::prod:
      return a * b;
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::band:
      return a & b;
    case Op::bor:
      return a | b;
    case Op::bxor:
      return a ^ b;
  }
  return 0;
}

/// The bits of the nearest number of a format, ties to even. Requires: it is not too large for it.
std::uint32_t bits_of(double number, int fraction_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = number == 0 ? 1 - bias : std::max(std::ilogb(number), 1 - bias);
  // With the leading bit, which adds one to the exponent.
  const double significand =
      std::nearbyint(std::ldexp(std::fabs(number), fraction_bits - exponent));
  const int magnitude =
      static_cast<int>(significand) + (exponent + bias - 1) * (1 << fraction_bits);
  const std::uint32_t sign = number < 0 ? 1U << (fraction_bits + exponent_bits) : 0;
  return sign | static_cast<std::uint32_t>(magnitude);
}

template <class T, class Number>
void put(std::byte* to, Number number) {
  const auto value = static_cast<T>(number);
  std::memcpy(to, &value, sizeof value);
}

/// Writes `number / divisor`. A complex number is a multiple of 1 + 2i, or of 1 for products.
void encode(DType dtype, Op op, std::int64_t number, std::int64_t divisor, std::byte* to) {
  const std::int64_t whole = number / divisor;
  const double real = static_cast<double>(number) / static_cast<double>(divisor);
  const double imaginary = op == Op::prod ? 0 : 2 * real;
  switch (dtype) {
    case DType::i8:
    case DType::u8:
      return put<std::uint8_t>(to, whole);
    case DType::i16:
    case DType::u16:
      return put<std::uint16_t>(to, whole);
    case DType::i32:
    case DType::u32:
      return put<std::uint32_t>(to, whole);
    case DType::i64:
    case DType::u64:
      return put<std::uint64_t>(to, whole);
    case DType::f16:
      return put<std::uint16_t>(to, bits_of(real, 10, 5));
    case DType::bf16:
      return put<std::uint16_t>(to, bits_of(real, 7, 8));
    case DType::f8e4m3:
      return put<std::uint8_t>(to, bits_of(real, 3, 4));
    case DType::f8e5m2:
      return put<std::uint8_t>(to, bits_of(real, 2, 5));
    case DType::f32:
      return put<float>(to, real);
    case DType::f64:
      return put<double>(to, real);
    case DType::complex64:
      put<float>(to, real);
      return put<float>(to + sizeof(float), imaginary);
    case DType::complex128:
      put<double>(to, real);
      return put<double>(to + sizeof(double), imaginary);
  }
}

}  // namespace

Contributions::Contributions(DType dtype, std::optional<Op> op, std::uint32_t ranks,
                             std::uint64_t seed)
    : dtype_(dtype), op_(op), ranks_(ranks), seed_(seed) {}

std::int64_t Contributions::number(std::uint32_t rank, std::uint64_t index) const {
  const std::uint64_t place = index % period;
  const std::uint64_t random = scrambled(seed_, rank, place);
  return op_ ? term(rank, place, random) : within(largest_exact(dtype_), dtype_, random);
}

/// A number that is combined with those of the other ranks.
std::int64_t Contributions::term(std::uint32_t rank, std::uint64_t index,
                                 std::uint64_t random) const {
  const std::int64_t exact = largest_exact(dtype_);
  // If there are too many ranks for all to contribute, only one in several does.
  const auto contributes = [&](std::uint64_t most) {
    return (index + rank) % ((ranks_ + most - 1) / most) == 0;
  };
  // Bits are combined of integers only, which are no longer than that.
  const std::uint64_t one_bit = std::uint64_t{1}
                                << random % std::min<std::size_t>(64, 8 * size_of(dtype_));
  switch (*op_) {
    case Op::sum:
    case Op::avg:
      if (!contributes(static_cast<std::uint64_t>(exact))) return 0;
      return within(std::max<std::int64_t>(1, exact / ranks_), dtype_, random);
    case Op::prod:
      // 3⁴ = 81 is exact in every type of more than 8 bits.
      if (contributes(4)) return exact < 81 ? 2 : 2 + static_cast<std::int64_t>(random % 2);
      // No sign for complex numbers: it would make negative zeros.
      if (is_complex(dtype_)) return 1;
      return is_signed(dtype_) && random % 2 == 0 ? -1 : 1;
    case Op::min:
    case Op::max:
      return within(exact, dtype_, random);
    // If all bits were random, the result of many ranks would not depend on any one of them.
    case Op::band:
      return static_cast<std::int64_t>(~one_bit);
    case Op::bor:
      return static_cast<std::int64_t>(one_bit);
    case Op::bxor:
      break;
  }
  return static_cast<std::int64_t>(random);
}

std::vector<std::byte> Contributions::of(std::uint32_t rank, std::uint64_t begin,
                                         std::uint64_t count) const {
  const std::size_t element = size_of(dtype_);
  std::vector<std::byte> bytes(count * element);
  for (std::uint64_t i = 0; i < count; ++i) {
    encode(dtype_, op_.value_or(Op::sum), number(rank, begin + i), 1, bytes.data() + i * element);
  }
  return bytes;
}

std::vector<std::byte> Contributions::combined(std::uint64_t begin, std::uint64_t count) const {
  const std::size_t element = size_of(dtype_);
  const std::int64_t divisor = op_ == Op::avg ? ranks_ : 1;
  std::vector<std::byte> bytes(count * element);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t value = number(0, begin + i);
    for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
      value = combination(*op_, value, number(rank, begin + i));
    }
    encode(dtype_, *op_, value, divisor, bytes.data() + i * element);
  }
  return bytes;
}

}  // namespace tutti::measure
