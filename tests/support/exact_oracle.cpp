#include "support/exact_oracle.hpp"

#include <algorithm>
#include <array>

#include "support/random.hpp"

namespace tutti::test {
namespace {

struct Format {
  int fraction_bits;
  int exponent_bits;

  [[nodiscard]] std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  [[nodiscard]] std::uint64_t sign() const {
    return std::uint64_t{1} << (fraction_bits + exponent_bits);
  }
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {10, 5};
    case DType::bf16:
      return {7, 8};
    case DType::f32:
      return {23, 8};
    default:
      return {52, 11};
  }
}

/// An integer with enough bits for any sum, in two's complement.
class Large {
 public:
  void add_bit(std::size_t at) {
    for (std::size_t word = at / 32; word < words_.size(); ++word) {
      const std::uint64_t sum = words_[word] + (word == at / 32 ? std::uint64_t{1} << at % 32 : 1);
      words_[word] = sum & 0xFFFFFFFF;
      if (sum >> 32 == 0) return;
    }
  }
  void negate() {
    for (std::uint64_t& word : words_) word = ~word & 0xFFFFFFFF;
    add_bit(0);
  }
  void add(const Large& other) {
    std::uint64_t carried = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carried += words_[i] + other.words_[i];
      words_[i] = carried & 0xFFFFFFFF;
      carried >>= 32;
    }
  }
  [[nodiscard]] bool is_negative() const { return words_.back() >> 31 != 0; }
  [[nodiscard]] bool is_zero() const { return words_ == std::array<std::uint64_t, 80>{}; }

 private:
  std::array<std::uint64_t, 80> words_{};
};

/// A magnitude in units of the smallest number of its format. Infinity has the value of the next
/// number, as if the exponent range continued.
Large value_of(const Format& format, std::uint64_t magnitude) {
  std::uint64_t significand = magnitude & ((std::uint64_t{1} << format.fraction_bits) - 1);
  std::uint64_t shift = magnitude >> format.fraction_bits;
  if (shift > 0) {
    significand |= std::uint64_t{1} << format.fraction_bits;
    --shift;
  }
  Large value;
  for (std::size_t i = 0; i < 64; ++i) {
    if ((significand >> i & 1) != 0) value.add_bit(shift + i);
  }
  return value;
}

Large difference(const Large& a, Large b) {
  b.negate();
  b.add(a);
  return b;
}

std::uint64_t nearest(const Format& format, const Large& value) {
  std::uint64_t low = 0;  // Not above the value; `high` is above it unless it is infinity.
  std::uint64_t high = format.infinity();
  if (!difference(value, value_of(format, high)).is_negative()) return high;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const bool is_above = difference(value, value_of(format, middle)).is_negative();
    (is_above ? high : low) = middle;
  }
  const Large to_low = difference(value, value_of(format, low));
  const Large to_high = difference(value_of(format, high), value);
  const Large balance = difference(to_high, to_low);
  if (balance.is_zero()) return low % 2 == 0 ? low : high;
  return balance.is_negative() ? high : low;
}

}  // namespace

std::uint64_t exact_sum_by_the_book(DType dtype, const std::vector<std::uint64_t>& numbers) {
  const Format format = format_of(dtype);
  const std::uint64_t nan = format.infinity() | std::uint64_t{1} << (format.fraction_bits - 1);
  bool infinite[2] = {false, false};
  Large sum;
  for (const std::uint64_t number : numbers) {
    const bool is_negative = (number & format.sign()) != 0;
    const std::uint64_t magnitude = number & (format.sign() - 1);
    if (magnitude > format.infinity()) return nan;
    if (magnitude == format.infinity()) {
      infinite[is_negative ? 1 : 0] = true;
      continue;
    }
    Large value = value_of(format, magnitude);
    if (is_negative) value.negate();
    sum.add(value);
  }
  if (infinite[0] && infinite[1]) return nan;
  if (infinite[0]) return format.infinity();
  if (infinite[1]) return format.infinity() | format.sign();
  if (sum.is_zero()) return 0;
  const bool is_negative = sum.is_negative();
  if (is_negative) sum.negate();
  return nearest(format, sum) | (is_negative ? format.sign() : 0);
}

std::vector<std::uint64_t> hard_numbers(DType dtype, std::size_t count, std::uint64_t seed) {
  const Format format = format_of(dtype);
  Random random(seed);
  std::vector<std::uint64_t> numbers;
  const std::uint64_t kind = random.below(std::uint64_t{8});
  const std::uint64_t exponents = format.infinity() >> format.fraction_bits;
  const std::uint64_t middle = random.below(exponents);
  while (numbers.size() < count) {
    const std::uint64_t sign = random.one_in(2) ? format.sign() : 0;
    const std::uint64_t fraction = random.bits() & ((std::uint64_t{1} << format.fraction_bits) - 1);
    const auto with = [&](std::uint64_t exponent, std::uint64_t bits) {
      return sign | std::min(exponent, exponents - 1) << format.fraction_bits | bits;
    };
    std::uint64_t number = with(middle + random.below(std::uint64_t{12}), fraction);
    if (kind == 0) number = with(random.below(exponents), fraction);
    if (kind == 1) number = with(random.below(std::uint64_t{3}), fraction);
    if (kind == 2) number = with(exponents - 1 - random.below(std::uint64_t{2}), fraction);
    // Powers of two, whose sums are often halfway between two numbers.
    if (kind == 3) number = with(middle + random.below(std::uint64_t{60}), 0);
    if (kind == 4 && !numbers.empty() && random.one_in(2)) {
      number = numbers[random.below(std::uint64_t{numbers.size()})] ^ format.sign();
    }
    if (kind == 5 && random.one_in(3)) number = sign;
    if (kind == 6 && random.one_in(4)) number = sign | format.infinity();
    if (kind == 6 && random.one_in(12)) number = sign | format.infinity() | (fraction | 1);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace tutti::test
