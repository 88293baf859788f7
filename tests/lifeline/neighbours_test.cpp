#include "lifeline/neighbours.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Neighbours, SmallGroupsAreFullyConnected) {
  EXPECT_TRUE(neighbours_of(0, 1).empty());
  EXPECT_EQ(neighbours_of(1, 3), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(neighbours_of(7, 16).size(), 15);
}

TEST(Neighbours, GrowWithTheLogarithm) {
  EXPECT_EQ(neighbours_of(0, 17).size(), 8);
  EXPECT_EQ(neighbours_of(3, 256).size(), 15);
  EXPECT_EQ(neighbours_of(3, 1024).size(), 19);
  EXPECT_EQ(neighbours_of(100'000, 1U << 20U).size(), 39);
}

TEST(Neighbours, AreMutual) {
  for (const std::uint32_t members : {17U, 18U, 31U, 32U, 33U, 100U}) {
    for (std::uint32_t self = 0; self < members; ++self) {
      for (const std::uint32_t other : neighbours_of(self, members)) {
        EXPECT_NE(other, self);
        const auto theirs = neighbours_of(other, members);
        EXPECT_TRUE(std::binary_search(theirs.begin(), theirs.end(), self));
      }
    }
  }
}

/// News travel by neighbours that live.
TEST(Neighbours, ReachAllOthersAfterLosses) {
  constexpr std::uint32_t members = 100;
  for (const std::uint32_t lost : {1U, 5U, 25U, 50U}) {
    std::set<std::uint32_t> reached{0};
    std::vector<std::uint32_t> queue{0};
    const auto lives = [&](std::uint32_t member) { return member == 0 || member > lost; };
    while (!queue.empty()) {
      const std::uint32_t at = queue.back();
      queue.pop_back();
      for (const std::uint32_t next : neighbours_of(at, members)) {
        if (lives(next) && reached.insert(next).second) queue.push_back(next);
      }
    }
    EXPECT_EQ(reached.size(), members - lost);
  }
}

}  // namespace
}  // namespace tutti::test
