#include "cli/measure/timing.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

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

/// The first call may be slow because it is the first. So it is repeated once.
TEST(Timing, GivesUpAfterTwoSlowCalls) {
  std::atomic<std::size_t> calls = 0;
  run_threads(2, [&](Communicator& communicator) {
    EXPECT_GT(measure::time_in_batches(
                  communicator, {.seconds = 0.01, .give_up = 0}, [&] { ++calls; }, [] {}),
              0);
  });
  EXPECT_EQ(calls, 2 * 2);
}

/// Rewriting takes 50 ms, and rank 1 is 1 ms later than rank 0.
TEST(Timing, MeasuresCallsThatDoNotOverlap) {
  std::atomic<std::size_t> rewritten = 0;
  run_threads(2, [&](Communicator& communicator) {
    const auto sleep = [](std::size_t ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    };
    const double us = measure::time_in_batches(
        communicator, {.warm_ups = 0, .iterations = 4}, [&] { sleep(communicator.rank()); },
        [&] {
          ++rewritten;
          sleep(50);
        });
    EXPECT_GE(us, 1000);
    EXPECT_LT(us, 50'000);
  });
  EXPECT_EQ(rewritten, 2 * 4);
}

}  // namespace
}  // namespace tutti::test
