#include "faults/chaos.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(SlowChaos, NoStepIsLostOrCountedTwice) {
  const ChaosResult result = run_chaos(3, 8, 10s);
  EXPECT_EQ(result.wrong, std::vector<std::string>{});
  EXPECT_GT(result.steps, 20U);
  EXPECT_GT(result.kills, 2U);
  EXPECT_GT(result.joins, 0U);
}

}  // namespace
}  // namespace tutti::test
