#include "transport/memory/arena.hpp"

#include <sys/resource.h>

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Makes stripes on a system that has room for stripes of `room` bytes.
std::size_t made_with(std::size_t room) {
  return Arena::make_stripes(4, [room](std::size_t bytes) {
    if (bytes > room) throw Error(ErrorCode::unsupported, "no room");
    return bytes;
  });
}

TEST(Arena, HasShorterStripesWhereTheyFit) {
  EXPECT_EQ(made_with(1024 * mebibyte), Arena::usual_stripe(4));
  EXPECT_EQ(made_with(20 * mebibyte), 16 * mebibyte);
  expect_error([] { (void)made_with(mebibyte); }, ErrorCode::unsupported, "no room");
}

TEST(Arena, TakesAQuarterOfLimitedAddressSpace) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "the address space is limited already";
  EXPECT_EQ(Arena::usual_stripe(4), 128 * mebibyte);
  rlimit limited = before;
  limited.rlim_cur = std::size_t{16} << 40;  // Sanitizers need terabytes.
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_EQ(Arena::usual_stripe(4), 128 * mebibyte);
  EXPECT_EQ(Arena::usual_stripe(1U << 18), 16 * mebibyte);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace
}  // namespace tutti::test
