#include "cli/measure/duel.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using measure::crossing;
using measure::Duel;

TEST(Crossing, LeavesFewestSizesOnTheWrongSide) {
  const std::vector<Duel> clear{{1, 1, 2}, {4, 1, 2}, {16, 2, 1}, {64, 2, 1}};
  EXPECT_NEAR(*crossing(clear), 8, 1e-9);
  const std::vector<Duel> noisy{{1, 1, 2},  {2, 3, 2},  {4, 1, 2},  {8, 1, 2},
                                {16, 2, 1}, {32, 2, 1}, {64, 1, 2}, {128, 2, 1}};
  EXPECT_NEAR(*crossing(noisy), std::sqrt(8.0 * 16), 1e-9);
  EXPECT_FALSE(crossing(std::vector<Duel>{{1, 1, 2}, {4, 1, 2}}).has_value());
}

}  // namespace
}  // namespace tutti::test
