#include "api/failure/retry_count.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(RetryCount, CannotBeAdvancedAfterSeal) {
  RetryCount count(4);
  EXPECT_TRUE(count.advance(5));
  EXPECT_EQ(count.seal(), 5U);
  EXPECT_FALSE(count.advance(6));
  EXPECT_EQ(count.seal(), 5U);
  EXPECT_EQ(count.value(), 5U);
}

TEST(RetryCount, StaysSealedAfterSet) {
  RetryCount count(4);
  count.set(7);
  EXPECT_EQ(count.seal(), 7U);
  count.set(8);
  EXPECT_EQ(count.value(), 8U);
  EXPECT_FALSE(count.advance(9));
}

/// seal() returns the last count that advance() accepted.
TEST(RetryCount, IsAdvancedOrSealedButNotBoth) {
  for (int round = 0; round < 100; ++round) {
    RetryCount count(0);
    std::uint64_t sealed = 0;
    std::thread other([&] { sealed = count.seal(); });
    std::uint64_t done = 0;
    while (count.advance(done + 1)) ++done;
    other.join();
    ASSERT_EQ(sealed, done);
  }
}

}  // namespace
}  // namespace tutti::test
