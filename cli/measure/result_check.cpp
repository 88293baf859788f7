#include "cli/measure/result_check.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <utility>

#include "kernels/fold.hpp"

namespace tutti::measure {
namespace {

constexpr std::uint64_t longest_period = 65'521;
constexpr std::byte poison{0xA5};

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

std::uint64_t round_up_division(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

std::int64_t combined(Op op, std::int64_t a, std::int64_t b) {
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

/// The bits of an integer of at most 11 bits.
std::uint16_t f16_bits(float exact) {
  if (exact == 0) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(exact);
  const std::uint32_t exponent = (bits >> 23U & 0xFFU) - 127 + 15;
  return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | exponent << 10U |
                                    (bits >> 13U & 0x3FFU));
}

std::uint16_t bf16_bits(float exact) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(exact) >> 16U);
}

/// The bits of an integer with few bits.
std::uint8_t f8_bits(float exact, unsigned fraction_bits, std::uint32_t bias) {
  if (exact == 0) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(exact);
  const std::uint32_t exponent = (bits >> 23U & 0xFFU) - 127 + bias;
  const std::uint32_t fraction = (bits & 0x7FFFFFU) >> (23U - fraction_bits);
  return static_cast<std::uint8_t>((bits >> 24U & 0x80U) | exponent << fraction_bits | fraction);
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
void put_complex(std::byte* to, T real, T imaginary) {
  put(to, real);
  put(to + sizeof real, imaginary);
}

/// A complex number is an integer multiple of 1 + 2i, or of 1 for products.
void encode(DType dtype, Op op, std::int64_t number, std::byte* to) {
  const std::int64_t imaginary = op == Op::prod ? 0 : 2 * number;
  switch (dtype) {
    case DType::i8:
    case DType::u8:
      return put(to, static_cast<std::uint8_t>(number));
    case DType::i16:
    case DType::u16:
      return put(to, static_cast<std::uint16_t>(number));
    case DType::i32:
    case DType::u32:
      return put(to, static_cast<std::uint32_t>(number));
    case DType::i64:
    case DType::u64:
      return put(to, number);
    case DType::f16:
      return put(to, f16_bits(static_cast<float>(number)));
    case DType::bf16:
      return put(to, bf16_bits(static_cast<float>(number)));
    case DType::f8e4m3:
      return put(to, f8_bits(static_cast<float>(number), 3, 7));
    case DType::f8e5m2:
      return put(to, f8_bits(static_cast<float>(number), 2, 15));
    case DType::f32:
      return put(to, static_cast<float>(number));
    case DType::f64:
      return put(to, static_cast<double>(number));
    case DType::complex64:
      return put_complex(to, static_cast<float>(number), static_cast<float>(imaginary));
    case DType::complex128:
      return put_complex(to, static_cast<double>(number), static_cast<double>(imaginary));
  }
}

void repeat(std::span<const std::byte> pattern, std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, pattern.size());
    std::memcpy(to, pattern.data(), piece);
    to += piece;
    bytes -= piece;
  }
}

}  // namespace

ResultCheck::ResultCheck(Case what, std::uint32_t self, std::uint32_t ranks, std::uint64_t seed)
    : case_(std::move(what)),
      self_(self),
      ranks_(ranks),
      seed_(seed),
      element_(size_of(case_.dtype)),
      period_(std::min(longest_period, larger_bytes(case_, ranks) / element_)) {}

std::int64_t ResultCheck::draw(std::uint64_t random, std::uint32_t rank,
                               std::uint64_t index) const {
  const std::int64_t exact = largest_exact(case_.dtype);
  // If there are too many ranks for all to contribute, only one in several does.
  const auto contributes = [&](std::uint64_t most) {
    return (index + rank) % round_up_division(ranks_, most) == 0;
  };
  if (!is_reduction(case_.collective)) return within(exact, case_.dtype, random);
  switch (case_.op) {
    case Op::sum:
    case Op::avg:
      if (!contributes(static_cast<std::uint64_t>(exact))) return 0;
      return within(std::max<std::int64_t>(1, exact / ranks_), case_.dtype, random);
    case Op::prod:
      // 3⁴ = 81 is exact in every type of more than 8 bits.
      if (contributes(4)) return exact < 81 ? 2 : 2 + static_cast<std::int64_t>(random % 2);
      // No sign for complex numbers: it would make negative zeros.
      if (is_complex(case_.dtype)) return 1;
      return is_signed(case_.dtype) && random % 2 == 0 ? -1 : 1;
    case Op::min:
    case Op::max:
      return within(exact, case_.dtype, random);
    case Op::band:
    case Op::bor:
    case Op::bxor:
      break;
  }
  return static_cast<std::int64_t>(random);
}

std::vector<std::int64_t> ResultCheck::drawn(std::uint32_t rank) const {
  std::seed_seq seed{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U),
                     rank};
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> values(period_);
  for (std::uint64_t i = 0; i < period_; ++i) values[i] = draw(random(), rank, i);
  return values;
}

ResultCheck::Numbers ResultCheck::encoded(std::span<const std::int64_t> values) const {
  Numbers bytes(values.size() * element_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    encode(case_.dtype, case_.op, values[i], bytes.data() + i * element_);
  }
  return bytes;
}

ResultCheck::Numbers ResultCheck::numbers(std::uint32_t rank) const { return encoded(drawn(rank)); }

ResultCheck::Numbers ResultCheck::combination() const {
  std::vector<std::int64_t> values = drawn(0);
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
    const std::vector<std::int64_t> more = drawn(rank);
    for (std::uint64_t i = 0; i < period_; ++i) {
      values[i] = combined(case_.op, values[i], more[i]);
    }
  }
  Numbers bytes = encoded(values);
  if (case_.op == Op::avg) divide(case_.dtype, bytes.data(), values.size(), ranks_);
  return bytes;
}

CallExtent ResultCheck::extent() const {
  return extent_of(call_of(case_, {}), Rank{self_}, ranks_);
}

void ResultCheck::prepare(const Operands& operands) const {
  const CallExtent elements = extent();
  std::fill_n(operands.output, elements.output * element_, poison);
  // Last, since in place the input lies within the output.
  if (elements.input > 0) repeat(numbers(self_), operands.input, elements.input * element_);
}

std::uint64_t ResultCheck::differing(const std::byte* found, const Numbers& numbers,
                                     std::uint64_t begin, std::uint64_t count) const {
  std::uint64_t wrong = 0;
  for (std::uint64_t at = begin % period_; count > 0; at = 0) {
    const std::uint64_t piece = std::min(count, period_ - at);
    const std::byte* expected = numbers.data() + at * element_;
    if (std::memcmp(found, expected, piece * element_) != 0) {
      for (std::uint64_t i = 0; i < piece; ++i) {
        wrong += std::memcmp(found + i * element_, expected + i * element_, element_) != 0 ? 1 : 0;
      }
    }
    found += piece * element_;
    count -= piece;
  }
  return wrong;
}

std::uint64_t ResultCheck::count_wrong(const Operands& operands) const {
  const std::byte* const output = operands.output;
  const std::uint64_t count = case_.count;
  if (extent().output == 0) return 0;
  std::uint64_t wrong = 0;
  switch (case_.collective) {
    case Collective::broadcast:
      return differing(output, numbers(case_.root), 0, count);
    case Collective::scatter:
      return differing(output, numbers(case_.root), self_ * count, count);
    case Collective::reduce:
    case Collective::allreduce:
      return differing(output, combination(), 0, count);
    case Collective::reduce_scatter:
      return differing(output, combination(), self_ * count, count);
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall: {
      const std::uint64_t begin = case_.collective == Collective::alltoall ? self_ * count : 0;
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        wrong += differing(output + rank * count * element_, numbers(rank), begin, count);
      }
      break;
    }
    case Collective::barrier:
      break;
  }
  return wrong;
}

}  // namespace tutti::measure
