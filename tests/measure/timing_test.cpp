#include "measure/timing.hpp"

#include <array>
#include <atomic>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Timing, IsWideIfAPercentileIsFarFromTheMedian) {
  EXPECT_FALSE((measure::Timing{.median = 10, .p10 = 6, .p90 = 19}.is_wide()));
  EXPECT_TRUE((measure::Timing{.median = 10, .p10 = 9, .p90 = 21}.is_wide()));
  EXPECT_TRUE((measure::Timing{.median = 10, .p10 = 4, .p90 = 11}.is_wide()));
}

TEST(Timing, MakesTheRequestedCallsAndAgreesOnAllRanks) {
  std::atomic<std::size_t> calls = 0;
  std::array<measure::Timing, 2> timings;
  run_threads(2, [&](Communicator& communicator) {
    timings[communicator.rank()] =
        measure::time_call(communicator, {.warm_ups = 3, .iterations = 10}, [&] { ++calls; });
  });
  EXPECT_EQ(calls, 2 * (3 + 10));
  EXPECT_EQ(timings[0].iterations, 10);
  EXPECT_EQ(timings[0].median, timings[1].median);
  EXPECT_LE(timings[0].p10, timings[0].p90);
}

}  // namespace
}  // namespace tutti::test
