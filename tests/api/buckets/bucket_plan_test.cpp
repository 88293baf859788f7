#include "api/buckets/bucket_plan.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t megabyte = 1000000;

std::vector<Tensor> same_tensors(std::size_t how_many, std::uint64_t bytes) {
  return std::vector<Tensor>(how_many, Tensor{.data = nullptr, .count = bytes / 4});
}

/// A textbook exercise: 1000 tensors of 1 MB, α = 10 µs, 100 GB/s, with one call per tensor or
/// buckets of 25 MB.
TEST(BucketPlan, HalvesTheTimeOfTheExercise) {
  const auto tensors = same_tensors(1000, megabyte);
  const BucketPlan plan =
      plan_buckets(tensors, {.first_bytes = 25 * megabyte, .bytes = 25 * megabyte});
  ASSERT_EQ(plan.buckets.size(), 40U);
  constexpr double alpha = 10e-6;
  constexpr double beta = 1 / 100e9;
  double individually = 0;
  for (const Tensor& tensor : tensors) {
    individually += alpha + beta * static_cast<double>(tensor.bytes());
  }
  double bucketed = 0;
  for (const Bucket& bucket : plan.buckets) {
    bucketed += alpha + beta * static_cast<double>(bucket.bytes());
  }
  EXPECT_NEAR(individually, 20e-3, 1e-9);
  EXPECT_NEAR(bucketed, 10.4e-3, 1e-9);
}

TEST(BucketPlan, BeginsWithASmallerBucket) {
  const BucketPlan plan = plan_buckets(same_tensors(12, 400), {.first_bytes = 1000, .bytes = 2000});
  ASSERT_EQ(plan.buckets.size(), 3U);
  EXPECT_EQ(plan.buckets[0].tensors, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(plan.buckets[1].tensors, (std::vector<std::uint32_t>{2, 3, 4, 5, 6}));
  EXPECT_EQ(plan.buckets[2].tensors, (std::vector<std::uint32_t>{7, 8, 9, 10, 11}));
  EXPECT_EQ(plan.places[5], (BucketPlace{.bucket = 1, .offset = 1200}));
}

TEST(BucketPlan, GivesALargeTensorItsOwnBucket) {
  std::vector<Tensor> tensors = same_tensors(3, 400);
  tensors[1].count = 1000;
  const BucketPlan plan = plan_buckets(tensors, {.first_bytes = 1000, .bytes = 1000});
  ASSERT_EQ(plan.buckets.size(), 3U);
  EXPECT_EQ(plan.buckets[1].tensors, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(plan.buckets[1].bytes(), 4000U);
}

TEST(BucketPlan, KeepsDtypesApartAndOrdersByTheLastTensor) {
  std::vector<Tensor> tensors = same_tensors(6, 400);
  for (const std::size_t i : {1U, 2U, 3U}) tensors[i].dtype = DType::f64;
  const BucketPlan plan = plan_buckets(tensors, {.first_bytes = 2000, .bytes = 2000});
  ASSERT_EQ(plan.buckets.size(), 3U);
  EXPECT_EQ(plan.buckets[0].tensors, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(plan.buckets[1].tensors, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(plan.buckets[2].tensors, (std::vector<std::uint32_t>{0, 4, 5}));
}

/// Every tensor is in one bucket, of its dtype, without gaps, within the limit, in order.
void expect_sound(const BucketPlan& plan, const std::vector<Tensor>& tensors,
                  const BucketLimits& limits) {
  std::vector<int> seen(tensors.size());
  std::uint32_t last = 0;
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    const Bucket& bucket = plan.buckets[b];
    ASSERT_FALSE(bucket.tensors.empty());
    EXPECT_TRUE(std::ranges::is_sorted(bucket.tensors));
    EXPECT_GE(bucket.tensors.back(), last);
    last = bucket.tensors.back();
    std::uint64_t offset = 0;
    std::size_t with_elements = 0;
    for (const std::uint32_t i : bucket.tensors) {
      ++seen[i];
      EXPECT_EQ(tensors[i].dtype, bucket.dtype);
      EXPECT_EQ(plan.places[i],
                (BucketPlace{.bucket = static_cast<std::uint32_t>(b), .offset = offset}));
      offset += tensors[i].bytes();
      if (tensors[i].count > 0) ++with_elements;
    }
    EXPECT_EQ(bucket.bytes(), offset);
    const bool has_first = bucket.tensors.front() == 0;
    if (with_elements > 1) {
      EXPECT_LE(offset, has_first ? limits.first_bytes : limits.bytes);
    }
  }
  EXPECT_EQ(std::ranges::count(seen, 1), static_cast<std::ptrdiff_t>(tensors.size()));
}

TEST(BucketPlan, IsSoundForAnyTensors) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Tensor> tensors(random.below(std::uint64_t{60}));
    for (Tensor& tensor : tensors) {
      tensor.count = random.one_in(10) ? 0 : random.below(std::uint64_t{300});
      tensor.dtype = dtypes()[random.below(std::uint64_t{4}) + 6];
    }
    const BucketLimits limits{.first_bytes = random.below(std::uint64_t{1000}),
                              .bytes = random.below(std::uint64_t{4000})};
    expect_sound(plan_buckets(tensors, limits), tensors, limits);
  }
}

class Adjacent : public ::testing::Test {
 protected:
  /// In which order tensors of these offsets (in floats) and counts are contiguous.
  Contiguity way(const std::vector<std::pair<std::size_t, std::uint64_t>>& places) {
    std::vector<Tensor> tensors;
    tensors.reserve(places.size());
    for (const auto& [offset, count] : places) {
      tensors.push_back({.data = memory_.data() + offset, .count = count});
    }
    const BucketPlan plan = plan_buckets(tensors, {.first_bytes = 4000, .bytes = 4000});
    return adjacency(plan.buckets.front(), tensors);
  }

  std::vector<float> memory_ = std::vector<float>(100);
};

TEST_F(Adjacent, IsFoundBothWays) {
  EXPECT_EQ(way({{0, 10}, {10, 5}, {15, 85}}), Contiguity::forward);
  EXPECT_EQ(way({{15, 85}, {10, 5}, {0, 10}}), Contiguity::backward);
  EXPECT_EQ(way({{0, 10}, {11, 5}}), Contiguity::none) << "a gap";
  EXPECT_EQ(way({{0, 10}, {15, 5}, {10, 5}}), Contiguity::none) << "neither way";
  EXPECT_EQ(way({{7, 3}}), Contiguity::both);
}

TEST_F(Adjacent, IgnoresEmptyTensors) {
  EXPECT_EQ(way({{0, 10}, {90, 0}, {10, 5}}), Contiguity::forward);
  EXPECT_EQ(way({{90, 0}}), Contiguity::both);
}

TEST_F(Adjacent, NeedsMemory) {
  const std::vector<Tensor> tensors = {{.data = nullptr, .count = 3}};
  const BucketPlan plan = plan_buckets(tensors, {.first_bytes = 10, .bytes = 10});
  EXPECT_EQ(adjacency(plan.buckets.front(), tensors), Contiguity::none);
}

TEST(BucketPlan, CanReverseABucket) {
  const auto tensors = same_tensors(3, 400);
  BucketPlan plan = plan_buckets(tensors, {.first_bytes = 4000, .bytes = 4000});
  reverse(plan, 0, tensors);
  EXPECT_EQ(plan.buckets[0].tensors, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_EQ(plan.places[0].offset, 800U);
  EXPECT_EQ(plan.places[2].offset, 0U);
}

}  // namespace
}  // namespace tutti::test
