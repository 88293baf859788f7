#include "kernels/distil.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "support/exact_oracle.hpp"
#include "support/random.hpp"

namespace tutti::test {
namespace {

using Numbers = std::vector<std::uint64_t>;  // As bits.

std::vector<std::byte> packed(const Numbers& numbers, std::size_t element) {
  std::vector<std::byte> bytes(numbers.size() * element);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::memcpy(bytes.data() + i * element, &numbers[i], element);
  }
  return bytes;
}

struct Distilled {
  std::size_t planes = 0;
  std::vector<Numbers> addends{};  ///< By element.
};

Distilled distilled(DType dtype, const std::vector<Numbers>& columns) {
  const std::size_t element = size_of(dtype);
  const std::size_t operands = columns.front().size();
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::vector<std::byte>> planes;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (std::size_t k = 0; k < operands; ++k) {
    Numbers row;
    for (const Numbers& column : columns) row.push_back(column[k]);
    memory.push_back(packed(row, element));
    planes.emplace_back(columns.size() * element, std::byte{0xA5});
  }
  for (std::size_t k = 0; k < operands; ++k) {
    in.push_back(memory[k].data());
    out.push_back(planes[k].data());
  }
  Distilled result{.planes = distil(dtype, out.data(), in.data(), operands, columns.size())};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Numbers addends(result.planes);
    for (std::size_t j = 0; j < result.planes; ++j) {
      std::memcpy(&addends[j], planes[j].data() + i * element, element);
    }
    result.addends.push_back(addends);
  }
  return result;
}

TEST(Distil, KeepsTheExactSum) {
  std::uint64_t seed = 100;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::size_t operands : {1U, 2U, 3U, 4U, 8U}) {
      for (const std::size_t count : {1U, 255U, 256U, 700U}) {
        std::vector<Numbers> columns;
        ++seed;
        for (std::size_t i = 0; i < count; ++i) {
          // No infinities and no numbers that add up to infinity: kinds 2 and 6.
          Numbers column = hard_numbers(dtype, operands, seed * 1000 + i);
          for (std::uint64_t& each : column) {
            const std::uint64_t exponent = dtype == DType::f32 ? 0x7F800000 : 0x7FF0000000000000;
            const std::uint64_t half = exponent >> 1 & exponent;
            if ((each & exponent) > half) each &= ~(exponent ^ half);
          }
          columns.push_back(column);
        }
        const Distilled result = distilled(dtype, columns);
        ASSERT_GE(result.planes, 1U);
        ASSERT_LE(result.planes, operands);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(exact_sum_by_the_book(dtype, result.addends[i]),
                    exact_sum_by_the_book(dtype, columns[i]))
              << name(dtype) << " operands " << operands << " count " << count << " element " << i;
        }
      }
    }
  }
}

TEST(Distil, TwoPlanesAreEnoughForNumbersOfSimilarSize) {
  Random random(5);
  std::vector<Numbers> columns(1000, Numbers(8));
  for (Numbers& column : columns) {
    for (std::uint64_t& each : column) {
      const float number = static_cast<float>(random.below(std::uint64_t{1} << 20));
      each = std::bit_cast<std::uint32_t>(number);
    }
  }
  EXPECT_EQ(distilled(DType::f32, columns).planes, 1U);  // Integers below 2²³.
  columns[700][3] = std::bit_cast<std::uint32_t>(std::ldexp(1.0F, -20) + 1);
  EXPECT_EQ(distilled(DType::f32, columns).planes, 2U);
}

TEST(Distil, ReturnsZeroForInfinities) {
  const std::uint64_t huge = std::bit_cast<std::uint32_t>(3e38F);
  EXPECT_EQ(distilled(DType::f32, {{huge, huge, huge}}).planes, 0U);
  EXPECT_EQ(distilled(DType::f32, {{0, 0x7F800000, 0}}).planes, 0U);
  EXPECT_EQ(distilled(DType::f32, {{0, 0, 0x7FC00000}}).planes, 0U);
}

}  // namespace
}  // namespace tutti::test
