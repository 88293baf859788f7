#include "cli/measure/quantile.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::vector<double> ten{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_DOUBLE_EQ(measure::quantile(ten, 0.5), 4.5);
  EXPECT_DOUBLE_EQ(measure::quantile(ten, 0.1), 0.9);
  EXPECT_DOUBLE_EQ(measure::quantile(ten, 0.9), 8.1);
  EXPECT_DOUBLE_EQ(measure::quantile(std::vector<double>{7}, 0.9), 7);
}

TEST(Quantile, MedianSortsFirst) { EXPECT_DOUBLE_EQ(measure::median_of({9, 1, 4}), 4); }

}  // namespace
}  // namespace tutti::test
