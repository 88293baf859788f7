#include "cli/measure/tuning.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Tuning, MeasuresEveryCollectiveAndShowsProgress) {
  double last = 0;
  run_threads(2, [&](Communicator& communicator) {
    const Profile found = measure::tune(
        communicator,
        {.reach = {.pairs = Pairs::process}, .cores = 2, .seconds = 20, .most_bytes = 64},
        [&](double share) {
          EXPECT_GE(share, last);
          EXPECT_LE(share, 1);
          last = share;
        });
    ASSERT_EQ(found.reaches.size(), 1);
    EXPECT_EQ(found.reaches[0].ranks, 2);
    EXPECT_GT(found.reaches[0].link.alpha, 0);
    ASSERT_FALSE(found.measurements.empty());
    for (const Measurement& each : found.measurements) {
      EXPECT_EQ(each.reach.pairs, Pairs::process);
      EXPECT_FALSE(each.points.empty()) << each.algorithm;
    }
  });
  EXPECT_GT(last, 0);
}

/// Among two ranks every tree is the same schedule. So they have the same times, not similar ones.
TEST(Tuning, MeasuresEqualSchedulesOnce) {
  run_threads(2, [&](Communicator& communicator) {
    const Profile found = measure::tune(
        communicator,
        {.reach = {.pairs = Pairs::process}, .cores = 2, .seconds = 2, .most_bytes = 64}, {});
    const auto times = [&](const std::string& algorithm) {
      const auto place = std::ranges::find(found.measurements, algorithm, &Measurement::algorithm);
      return place == found.measurements.end() ? std::vector<Measurement::Point>() : place->points;
    };
    EXPECT_FALSE(times("broadcast/flat").empty());
    EXPECT_EQ(times("broadcast/flat"), times("broadcast/binomial"));
    EXPECT_NE(times("allreduce/ring"), times("allreduce/mesh"));
  });
}

TEST(Tuning, ReadsInPlaceFromTheSizeWithTheLeastLoss) {
  using measure::best_direct_from;
  using measure::Protocols;
  EXPECT_EQ(best_direct_from({}), 1U << 20U);
  std::vector<Protocols> found{{.message = 512, .copied = 1, .direct = 1.5},
                               {.message = 2048, .copied = 2, .direct = 1.2},
                               {.message = 8192, .copied = 4, .direct = 2},
                               {.message = 32768, .copied = 10, .direct = 7}};
  EXPECT_EQ(best_direct_from(found), 2048U);
  // A single bad measurement of a long message does not hide the gain of shorter ones.
  found.back().direct = 10.5;
  EXPECT_EQ(best_direct_from(found), 2048U);
  for (Protocols& each : found) each.direct = 2 * each.copied;
  EXPECT_EQ(best_direct_from(found), 1U << 20U);
  EXPECT_EQ(best_direct_from(found, Thresholds::never), Thresholds::never);
}

/// With no time at all the usual values stay, and no algorithm is measured at some sizes only.
TEST(Tuning, EndsWhenTheTimeIsOver) {
  run_threads(2, [&](Communicator& communicator) {
    const Profile found = measure::tune(
        communicator,
        {.reach = {.pairs = Pairs::process}, .cores = 2, .seconds = 0, .most_bytes = 1 << 20});
    EXPECT_TRUE(found.measurements.empty());
    EXPECT_EQ(found.reaches.front().thresholds.slice_bytes,
              built_in_profile().at({.pairs = Pairs::process}, 2).thresholds.slice_bytes);
  });
}

}  // namespace
}  // namespace tutti::test
