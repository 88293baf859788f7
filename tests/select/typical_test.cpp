#include "select/typical.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Typical, IsTheMeanOfSimilarTimes) {
  EXPECT_EQ(typical({3}), 3);
  EXPECT_EQ(typical({8, 4}), 6);
  EXPECT_EQ(typical({5, 10, 6}), 7);
}

TEST(Typical, IgnoresOutliers) {
  EXPECT_EQ(typical({4, 100}), 4);
  EXPECT_EQ(typical({5, 100, 7}), 6);
  EXPECT_EQ(typical({2, 4, 6, 9}), 4);
}

}  // namespace
}  // namespace tutti
