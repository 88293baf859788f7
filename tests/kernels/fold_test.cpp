#include "kernels/fold.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/element.hpp>

#include "kernels/dispatch.hpp"
#include "support/fp8.hpp"
#include "support/half.hpp"

namespace tutti {
namespace {

using test::from_bf16;
using test::from_f16;
using test::from_f8;
using test::to_bf16;
using test::to_f16;
using test::to_f8;

/// Folds one element in scalar code.
template <class T>
T combine(Op op, T a, T b) {
  switch (op) {
    case Op::sum:
    case Op::avg:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      } else {
        return a + b;
      }
    case Op::prod:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      } else {
        return a * b;
      }
    case Op::min:
    case Op::max:
      if constexpr (std::is_floating_point_v<T>) {
        if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
        if (a == b) return std::signbit(a) == (op == Op::min) ? a : b;
      }
      return (op == Op::min) == (b < a) ? b : a;
    case Op::band:
    case Op::bor:
    case Op::bxor:
      if constexpr (std::is_integral_v<T>) {
        return op == Op::band ? a & b : op == Op::bor ? a | b : a ^ b;
      }
  }
  return a;
}

/// The same for complex numbers, by the formula in op.hpp.
template <class T>
std::complex<T> combine(Op op, std::complex<T> a, std::complex<T> b) {
  if (op != Op::prod) return {a.real() + b.real(), a.imag() + b.imag()};
  // In memory, so that the compiler does not fuse or widen operations.
  volatile T ac = a.real() * b.real();
  volatile T bd = a.imag() * b.imag();
  volatile T ad = a.real() * b.imag();
  volatile T bc = a.imag() * b.real();
  return {ac - bd, ad + bc};
}

template <class T>
T fold_plain(Op op, const std::vector<T>& operands) {
  T result = operands[0];
  for (std::size_t k = 1; k < operands.size(); ++k) result = combine(op, result, operands[k]);
  return result;
}

/// The expected bytes of one folded element.
template <class T>
T expected(DType dtype, Op op, const std::vector<T>& operands) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (is_floating(dtype)) {
      std::vector<float> wide;
      for (const T each : operands) wide.push_back(from_f8(dtype, each));
      return to_f8(dtype, fold_plain(op, wide));
    }
  }
  if constexpr (std::is_same_v<T, std::uint16_t>) {
    if (is_floating(dtype)) {
      std::vector<float> wide;
      for (const T each : operands) {
        wide.push_back(dtype == DType::bf16 ? from_bf16(each) : from_f16(each));
      }
      const float result = fold_plain(op, wide);
      return dtype == DType::bf16 ? to_bf16(result) : to_f16(result);
    }
  }
  return fold_plain(op, operands);
}

/// Values whose sums and products stay finite and mostly need rounding.
template <class T>
T some_value(DType dtype, std::mt19937_64& random) {
  if constexpr (ComplexNumber<T>) {
    using Part = typename T::value_type;
    std::uniform_real_distribution<Part> parts(-8, 8);
    const Part real = parts(random);
    return T(real, parts(random));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::uniform_real_distribution<T>(-8, 8)(random);
  } else if (dtype == DType::f16 || dtype == DType::bf16) {
    const float value = std::uniform_real_distribution<float>(-8, 8)(random);
    const std::uint16_t bits = dtype == DType::bf16 ? to_bf16(value) : to_f16(value);
    return static_cast<T>(bits);
  } else if (is_floating(dtype)) {
    // The formats have so few numbers that products and sums often overflow. A NaN may have a sign,
    // depending on the processor.
    return static_cast<T>(to_f8(dtype, std::uniform_real_distribution<float>(-1.5, 1.5)(random)));
  } else {
    return static_cast<T>(random());
  }
}

/// The data pointer of an empty vector may be null, which memcmp does not accept.
template <class T>
bool same_bytes(const void* found, const std::vector<T>& want) {
  return want.empty() || std::memcmp(found, want.data(), want.size() * sizeof(T)) == 0;
}

template <class T>
void check(DType dtype, Op op, std::size_t operands, std::size_t count, std::size_t misalignment,
           bool in_place, bool with_copy) {
  std::mt19937_64 random(count * 131 + operands);
  std::vector<std::vector<std::byte>> memory(operands);
  std::vector<const void*> in;
  for (auto& each : memory) {
    each.resize(count * sizeof(T) + misalignment);
    for (std::size_t i = 0; i < count; ++i) {
      const T value = some_value<T>(dtype, random);
      std::memcpy(each.data() + misalignment + i * sizeof(T), &value, sizeof(T));
    }
    in.push_back(each.data() + misalignment);
  }
  std::vector<T> want(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<T> column(operands);
    for (std::size_t k = 0; k < operands; ++k) {
      std::memcpy(&column[k], memory[k].data() + misalignment + i * sizeof(T), sizeof(T));
    }
    want[i] = expected(dtype, op, column);
  }
  constexpr std::byte canary{0xA5};
  std::vector<std::byte> apart(count * sizeof(T) + misalignment + 64, canary);
  std::vector<std::byte> copy(count * sizeof(T) + 64, canary);
  void* const out =
      in_place ? memory[operands - 1].data() + misalignment : apart.data() + misalignment;
  fold(dtype, op)(out, with_copy ? copy.data() : nullptr, in.data(), operands, count);
  const std::string which = std::string(name(dtype)) + " " + std::string(name(op)) + " operands " +
                            std::to_string(operands) + " count " + std::to_string(count);
  EXPECT_TRUE(same_bytes(out, want)) << which;
  if (with_copy) {
    EXPECT_TRUE(same_bytes(copy.data(), want)) << which;
  }
  if (!in_place) {
    EXPECT_EQ(apart[count * sizeof(T) + misalignment], canary) << which;
  }
  EXPECT_EQ(copy[with_copy ? count * sizeof(T) : 0], canary) << which;
}

void check_any(DType dtype, Op op, std::size_t operands, std::size_t count,
               std::size_t misalignment, bool in_place, bool with_copy) {
  const auto with = [&](auto zero) {
    check<decltype(zero)>(dtype, op, operands, count, misalignment, in_place, with_copy);
  };
  switch (dtype) {
    case DType::i8:
      return with(std::int8_t{});
    case DType::u8:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return with(std::uint8_t{});
    case DType::i16:
      return with(std::int16_t{});
    case DType::u16:
      return with(std::uint16_t{});
    case DType::i32:
      return with(std::int32_t{});
    case DType::u32:
      return with(std::uint32_t{});
    case DType::i64:
      return with(std::int64_t{});
    case DType::u64:
      return with(std::uint64_t{});
    case DType::f16:
    case DType::bf16:
      return with(std::uint16_t{});
    case DType::f32:
      return with(float{});
    case DType::f64:
      return with(double{});
    case DType::complex64:
      return with(std::complex<float>{});
    case DType::complex128:
      return with(std::complex<double>{});
  }
}

/// Runs once for each vector instruction set of this CPU.
class FoldOnEveryTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { restrict_targets(GetParam()); }
  void TearDown() override { restrict_targets(0); }
};

TEST_P(FoldOnEveryTarget, EqualsTheReferenceBitForBit) {
  for (const DType dtype : dtypes()) {
    for (const Op op : ops()) {
      if (!applies(op, dtype)) continue;
      for (const std::size_t operands : {2U, 3U, 5U, 9U}) {
        for (const std::size_t count : {0U, 1U, 3U, 4U, 7U, 8U, 15U, 16U, 17U, 33U, 64U, 255U}) {
          check_any(dtype, op, operands, count, 0, false, false);
        }
      }
      check_any(dtype, op, 2, 100, 1, false, false);
      check_any(dtype, op, 2, 100, 3, true, false);
      check_any(dtype, op, 4, 100, 0, true, true);
      check_any(dtype, op, 2, 100, 0, false, true);
    }
  }
}

TEST_P(FoldOnEveryTarget, RoundsHalfPrecisionOnceAndToEven) {
  // 1 + 2⁻⁹ + 2⁻⁹ in bf16: if each addition were rounded, both terms would be lost.
  const std::uint16_t one = to_bf16(1);
  const std::uint16_t small = to_bf16(std::ldexp(1.0F, -9));
  const void* in[] = {&one, &small, &small, &small};
  std::uint16_t out = 0;
  fold(DType::bf16, Op::sum)(&out, nullptr, in, 4, 1);
  EXPECT_EQ(out, to_bf16(1 + 3 * std::ldexp(1.0F, -9)));
  // A tie goes to the even neighbour; truncation would round down.
  const std::uint16_t odd = to_bf16(1 + std::ldexp(1.0F, -7));
  const std::uint16_t half_step = to_bf16(std::ldexp(1.0F, -8));
  const void* tie[] = {&odd, &half_step};
  fold(DType::bf16, Op::sum)(&out, nullptr, tie, 2, 1);
  EXPECT_EQ(out, odd + 1);
}

TEST_P(FoldOnEveryTarget, KeepsEveryHalfPrecisionNumberPlusZero) {
  std::vector<std::uint16_t> all(65536);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const std::vector<std::uint16_t> minus_zero(all.size(), 0x8000);
    const void* in[] = {all.data(), minus_zero.data()};
    std::vector<std::uint16_t> out(all.size());
    fold(dtype, Op::sum)(out.data(), nullptr, in, 2, out.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float value = dtype == DType::f16 ? from_f16(all[i]) : from_bf16(all[i]);
      const float result = dtype == DType::f16 ? from_f16(out[i]) : from_bf16(out[i]);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(result)) << i;
      } else {
        EXPECT_EQ(out[i], all[i]) << name(dtype);
      }
    }
  }
}

/// All sums and products of two numbers: subnormal, too large, infinite and not a number.
TEST_P(FoldOnEveryTarget, FoldsEveryPairOfFp8Numbers) {
  std::vector<std::uint8_t> left;
  std::vector<std::uint8_t> right;
  for (std::uint32_t i = 0; i < 256 * 256; ++i) {
    left.push_back(static_cast<std::uint8_t>(i / 256));
    right.push_back(static_cast<std::uint8_t>(i % 256));
  }
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
    for (const Op op : {Op::sum, Op::prod, Op::min, Op::max}) {
      const void* in[] = {left.data(), right.data()};
      std::vector<std::uint8_t> out(left.size());
      fold(dtype, op)(out.data(), nullptr, in, 2, out.size());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const float want = combine(op, from_f8(dtype, left[i]), from_f8(dtype, right[i]));
        const std::uint8_t bits = to_f8(dtype, want);
        const bool is_nan = std::isnan(from_f8(dtype, bits));
        wrong += is_nan ? (std::isnan(from_f8(dtype, out[i])) ? 0 : 1) : (out[i] == bits ? 0 : 1);
      }
      EXPECT_EQ(wrong, 0) << name(dtype) << ' ' << name(op);
    }
  }
}

TEST_P(FoldOnEveryTarget, Fp8OverflowsWithoutSaturation) {
  const auto sum = [](DType dtype, float a, float b) {
    const std::uint8_t left = to_f8(dtype, a);
    const std::uint8_t right = to_f8(dtype, b);
    const void* in[] = {&left, &right};
    std::uint8_t out = 0;
    fold(dtype, Op::sum)(&out, nullptr, in, 2, 1);
    return out;
  };
  EXPECT_EQ(sum(DType::f8e4m3, 448, 16), 0x7E) << "a tie: 448 is even";
  EXPECT_EQ(sum(DType::f8e4m3, 448, 18), 0x7F) << "NaN";
  EXPECT_EQ(sum(DType::f8e4m3, -448, -448), 0x7F) << "NaN has no sign";
  EXPECT_EQ(sum(DType::f8e5m2, 57344, 3584), 0x7B);
  EXPECT_EQ(sum(DType::f8e5m2, 57344, 4096), 0x7C) << "a tie: infinity is even";
}

/// Bit for bit in any order: zeros have signs, and there is a single NaN.
template <class T>
void expect_extrema_in_any_order(DType dtype) {
  const auto nan = std::numeric_limits<T>::quiet_NaN();
  const auto infinity = std::numeric_limits<T>::infinity();
  const std::vector<T> numbers{T{0}, -T{0}, T{1}, T{-1}, nan, -nan, infinity, -infinity};
  for (const Op op : {Op::min, Op::max}) {
    for (const T a : numbers) {
      for (const T b : numbers) {
        const std::vector<T> left(37, a);
        const std::vector<T> right(37, b);
        const std::vector<T> want(37, combine(op, a, b));
        const void* in[] = {left.data(), right.data()};
        std::vector<T> out(37);
        fold(dtype, op)(out.data(), nullptr, in, 2, out.size());
        EXPECT_TRUE(same_bytes(out.data(), want)) << name(op) << " of " << a << " and " << b;
      }
    }
  }
}

TEST_P(FoldOnEveryTarget, ExtremaDoNotDependOnTheOrder) {
  expect_extrema_in_any_order<float>(DType::f32);
  expect_extrema_in_any_order<double>(DType::f64);
}

TEST_P(FoldOnEveryTarget, DividesTowardsZero) {
  std::vector<std::int32_t> integers{-7, -6, 0, 6, 7};
  divide(DType::i32, integers.data(), integers.size(), 3);
  EXPECT_EQ(integers, (std::vector<std::int32_t>{-2, -2, 0, 2, 2}));
  std::vector<float> floats{1, 2, 3, 4, 5};
  divide(DType::f32, floats.data(), floats.size(), 4);
  EXPECT_EQ(floats, (std::vector<float>{0.25, 0.5, 0.75, 1, 1.25}));
  std::vector<std::int16_t> shorts{-7, 32767};
  divide(DType::i16, shorts.data(), shorts.size(), 2);
  EXPECT_EQ(shorts, (std::vector<std::int16_t>{-3, 16383}));
  std::vector<std::complex<double>> complex{{1, -2}, {3, 4}, {5, 6}};
  divide(DType::complex128, complex.data(), complex.size(), 2);
  EXPECT_EQ(complex, (std::vector<std::complex<double>>{{0.5, -1}, {1.5, 2}, {2.5, 3}}));
  std::vector<std::uint16_t> halves;
  for (int i = 0; i < 19; ++i) halves.push_back(to_bf16(static_cast<float>(i)));
  divide(DType::bf16, halves.data(), halves.size(), 3);
  for (int i = 0; i < 19; ++i) EXPECT_EQ(halves[static_cast<std::size_t>(i)], to_bf16(i / 3.0F));
}

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> found;
  for (std::int64_t left = cpu_targets(); left != 0; left &= left - 1) {
    found.push_back(left & -left);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Kernels, FoldOnEveryTarget, ::testing::ValuesIn(targets()),
                         [](const auto& each) { return std::string(hwy::TargetName(each.param)); });

}  // namespace
}  // namespace tutti
