#include "net/eviction.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

std::size_t next_to_go(const std::vector<std::string>& sources) {
  return choose_eviction(sources, [](const std::string& each) { return each; }).index;
}

TEST(Eviction, PicksOldestOfLargestSource) {
  EXPECT_EQ(next_to_go({"a"}), 0U);
  EXPECT_EQ(next_to_go({"a", "b", "b", "c"}), 1U);
  EXPECT_EQ(next_to_go({"a", "b", "c", "b", "c", "c"}), 2U);
}

TEST(Eviction, PicksOldestOfAllWhenSourcesAreEqual) {
  EXPECT_EQ(next_to_go({"b", "a", "a", "b"}), 0U);
  EXPECT_EQ(next_to_go({"c", "b", "a"}), 0U);
}

}  // namespace
}  // namespace tutti
