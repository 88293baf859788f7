#include "kernels/exact_fold.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "kernels/dispatch.hpp"
#include "support/exact_oracle.hpp"
#include "support/fp8.hpp"
#include "support/random.hpp"

namespace tutti::test {
namespace {

constexpr DType real_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

using Numbers = std::vector<std::uint64_t>;  // As bits.

std::vector<std::byte> packed(const Numbers& numbers, std::size_t element) {
  std::vector<std::byte> bytes(numbers.size() * element);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::memcpy(bytes.data() + i * element, &numbers[i], element);
  }
  return bytes;
}

std::uint64_t element_at(const std::byte* bytes, std::size_t index, std::size_t element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes + index * element, element);
  return bits;
}

class ExactFoldOnEveryTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { restrict_targets(GetParam()); }
  void TearDown() override { restrict_targets(0); }
};

/// Compares the sums of `columns`, one for each element, with the reference.
void expect_exact(DType dtype, const std::vector<Numbers>& columns, bool in_place,
                  std::size_t misalignment) {
  const std::size_t element = size_of(dtype);
  const std::size_t operands = columns.front().size();
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> in;
  for (std::size_t k = 0; k < operands; ++k) {
    Numbers row;
    for (const Numbers& column : columns) row.push_back(column[k]);
    std::vector<std::byte> bytes = packed(row, element);
    bytes.insert(bytes.begin(), misalignment, std::byte{0});
    memory.push_back(std::move(bytes));
  }
  for (const auto& each : memory) in.push_back(each.data() + misalignment);
  std::vector<std::byte> apart(columns.size() * element);
  std::vector<std::byte> copy(columns.size() * element);
  std::byte* const out = in_place ? memory.back().data() + misalignment : apart.data();
  exact_fold(dtype)(out, in_place ? copy.data() : nullptr, in.data(), operands, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint64_t want = exact_sum_by_the_book(dtype, columns[i]);
    ASSERT_EQ(element_at(out, i, element), want)
        << name(dtype) << " operands " << operands << " element " << i;
    if (in_place) {
      ASSERT_EQ(element_at(copy.data(), i, element), want);
    }
  }
}

TEST_P(ExactFoldOnEveryTarget, IsTheExactSumRoundedOnce) {
  std::uint64_t seed = 0;
  for (const DType dtype : real_types) {
    for (const std::size_t operands : {1U, 2U, 3U, 4U, 5U, 8U, 17U}) {
      for (const std::size_t count : {1U, 2U, 7U, 8U, 16U, 37U, 150U}) {
        std::vector<Numbers> columns;
        for (std::size_t i = 0; i < count; ++i) {
          columns.push_back(hard_numbers(dtype, operands, ++seed));
        }
        expect_exact(dtype, columns, count % 2 == 0, count % 3);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Most vectors contain no number that is hard to add. A hard number must not affect the others.
TEST_P(ExactFoldOnEveryTarget, MixesEasyAndHardNumbers) {
  Random random(3);
  for (const DType dtype : real_types) {
    std::vector<Numbers> columns;
    for (std::size_t i = 0; i < 500; ++i) {
      columns.push_back(hard_numbers(dtype, 4, random.one_in(40) ? i : 7 + 8 * i));
      if (random.one_in(9)) columns.back() = Numbers(4, 0);
    }
    expect_exact(dtype, columns, false, 0);
  }
}

TEST_P(ExactFoldOnEveryTarget, DoesNotDependOnTheOrder) {
  Random random(11);
  for (const DType dtype : real_types) {
    const std::size_t element = size_of(dtype);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Numbers numbers = hard_numbers(dtype, 6, seed);
      std::uint64_t first = 0;
      for (int turn = 0; turn < 5; ++turn) {
        const std::vector<std::byte> memory = packed(numbers, element);
        std::vector<const void*> in;
        for (std::size_t k = 0; k < numbers.size(); ++k) in.push_back(memory.data() + k * element);
        std::uint64_t out = 0;
        exact_fold(dtype)(&out, nullptr, in.data(), in.size(), 1);
        if (turn == 0) first = out;
        ASSERT_EQ(out, first) << name(dtype) << " seed " << seed;
        random.shuffle(numbers);
      }
    }
  }
}

template <class T>
T sum_of(DType dtype, const std::vector<T>& numbers) {
  std::vector<const void*> in;
  for (const T& each : numbers) in.push_back(&each);
  T out = 0;
  exact_fold(dtype)(&out, nullptr, in.data(), in.size(), 1);
  return out;
}

TEST_P(ExactFoldOnEveryTarget, KnownSums) {
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(sum_of<double>(DType::f64, {huge, huge, -huge}), huge);
  EXPECT_EQ(sum_of<double>(DType::f64, {huge, huge, 1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(sum_of<double>(DType::f64, {1, 1e100, 1, -1e100}), 2);
  EXPECT_EQ(sum_of<double>(DType::f64, {1e308, 5e-324, -1e308}), 5e-324);
  EXPECT_EQ(sum_of<float>(DType::f32, {1, 1e30F, 1, -1e30F}), 2);
  EXPECT_FALSE(std::signbit(sum_of<float>(DType::f32, {-0.0F, -0.0F, -0.0F})));
  EXPECT_FALSE(std::signbit(sum_of<float>(DType::f32, {-0.0F})));
  EXPECT_FALSE(std::signbit(sum_of<double>(DType::f64, {-0.0, -0.0})));
  // A tie in f32 that only the last operand breaks.
  const float half_step = std::ldexp(1.0F, -24);
  EXPECT_EQ(sum_of<float>(DType::f32, {1, half_step, 0}), 1);
  EXPECT_EQ(sum_of<float>(DType::f32, {1, half_step, std::ldexp(1.0F, -140)}),
            1 + std::ldexp(1.0F, -23));
}

/// A number halfway between two others, and the last place of a value that cancels: a method that
/// loses that place rounds in the wrong direction.
TEST_P(ExactFoldOnEveryTarget, TiesBrokenByTheLastPlace) {
  for (const auto& [dtype, fraction_bits, one] :
       {std::tuple{DType::f16, 10U, std::uint64_t{0x3C00}},
        std::tuple{DType::bf16, 7U, std::uint64_t{0x3F80}},
        std::tuple{DType::f32, 23U, std::uint64_t{0x3F800000}},
        std::tuple{DType::f64, 52U, std::uint64_t{0x3FF0000000000000}}}) {
    const std::uint64_t minus = std::uint64_t{1} << (size_of(dtype) * 8 - 1);
    const auto power = [&, step = fraction_bits, unit = one](std::uint64_t down) {
      return unit - (down << step);
    };
    std::vector<Numbers> columns;
    for (std::uint64_t down = 1; down < (one >> fraction_bits); ++down) {
      const std::uint64_t odd = power(down) | 1;
      columns.push_back({one, power(fraction_bits + 1), odd, power(down) | minus});
      columns.push_back({one, power(fraction_bits + 1), odd | minus, power(down)});
      columns.push_back({odd, one | minus, power(fraction_bits + 1) | minus, power(down) | minus});
    }
    expect_exact(dtype, columns, false, 0);
  }
}

TEST_P(ExactFoldOnEveryTarget, AddsThePartsOfComplexNumbers) {
  const float a[] = {1, 2, 1e30F, 4, 5, 6};
  const float b[] = {1, -2, 1, 4, 0, 6};
  const float c[] = {1, 2, -1e30F, 4, -5, -12};
  const void* in[] = {a, b, c};
  float out[6] = {};
  exact_fold(DType::complex64)(out, nullptr, in, 3, 3);
  EXPECT_EQ(std::vector<float>(out, out + 6), (std::vector<float>{3, 2, 1, 12, 0, 0}));
}

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> found;
  for (std::int64_t left = cpu_targets(); left != 0; left &= left - 1) {
    found.push_back(left & -left);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Kernels, ExactFoldOnEveryTarget, ::testing::ValuesIn(targets()),
                         [](const auto& each) { return std::string(hwy::TargetName(each.param)); });

/// f32 would lose the small number.
TEST(ExactFold, AddsFp8WithoutLoss) {
  const std::uint8_t large = to_f8(DType::f8e5m2, 57344);
  const std::uint8_t small = to_f8(DType::f8e5m2, 0x1p-16);
  const auto minus_large = static_cast<std::uint8_t>(large | 0x80U);
  const void* in[] = {&large, &small, &minus_large};
  std::uint8_t out = 0;
  exact_fold(DType::f8e5m2)(&out, nullptr, in, 3, 1);
  EXPECT_EQ(out, small);
}

TEST(ExactFold, RoundsSumsOfFp8Once) {
  std::mt19937 random(7);
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
    for (const std::size_t operands : {1U, 2U, 5U, 100U}) {
      constexpr std::size_t count = 1000;
      std::vector<std::vector<std::uint8_t>> data(operands, std::vector<std::uint8_t>(count));
      std::vector<const void*> in;
      std::vector<double> sums(count);
      for (std::vector<std::uint8_t>& each : data) {
        for (std::size_t i = 0; i < count; ++i) {
          // Mostly finite numbers.
          each[i] = static_cast<std::uint8_t>(random() % 256);
          if (i % 8 != 0) each[i] &= 0xBF;
          sums[i] += static_cast<double>(from_f8(dtype, each[i]));
        }
        in.push_back(each.data());
      }
      std::vector<std::uint8_t> out(count);
      std::vector<std::uint8_t> copy(count);
      exact_fold(dtype)(out.data(), copy.data(), in.data(), operands, count);
      EXPECT_EQ(out, copy);
      for (std::size_t i = 0; i < count; ++i) {
        const double sum = sums[i] == 0 ? 0 : sums[i];
        const std::uint8_t want = to_f8(dtype, sum);
        const bool is_nan = std::isnan(from_f8(dtype, want));
        EXPECT_TRUE(is_nan ? std::isnan(from_f8(dtype, out[i])) : out[i] == want)
            << name(dtype) << ' ' << sum;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::test
