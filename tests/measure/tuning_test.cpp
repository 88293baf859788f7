#include "measure/tuning.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Tuning, MeasuresEveryCollectiveAndShowsProgress) {
  double last = 0;
  run_threads(2, [&](Communicator& communicator) {
    const Profile found = measure::tune(
        communicator,
        {.reach = {.pairs = Pairs::process}, .cores = 2, .seconds = 2, .most_bytes = 64},
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

}  // namespace
}  // namespace tutti::test
