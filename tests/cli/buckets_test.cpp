#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"

namespace tutti::test {
namespace {

Json answer(const std::string& words) {
  const Outcome run = tutti("buckets --json " + words);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out);
}

/// 1000 tensors of 1 MB against buckets of 25 MB: the ring's 2(p−1)α is paid 40 times, not 1000.
TEST(Buckets, AnswerExerciseFour) {
  const Json found = answer("-p 16 --alpha 10us --bandwidth 100GB/s --bucket 25MB");
  const Json& single = found.at("buckets").at(0);
  const Json& fused = found.at("buckets").at(1);
  EXPECT_EQ(single.at("calls"), 1000);
  EXPECT_EQ(fused.at("calls"), 40);
  const double latency = 30 * 10e-6;
  const double bytes = 2 * 15.0 / 16 * 1e9 / 100e9;
  EXPECT_NEAR(single.at("seconds").get<double>(), 1000 * latency + bytes, 1e-9);
  EXPECT_NEAR(fused.at("seconds").get<double>(), 40 * latency + bytes, 1e-9);
  for (const Json& row : found.at("buckets")) {
    EXPECT_NEAR(row.at("simulated").get<double>() / row.at("seconds").get<double>(), 1, 0.01);
  }
  // Half of the time is latency if 2(p−1)α = 2(p−1)/p·n·β: n = pα/β.
  EXPECT_NEAR(found.at("half_latency").get<double>(), 16 * 10e-6 * 100e9, 200);
}

TEST(Buckets, CountTheBucketThatIsNotFull) {
  const Json found = answer("-p 4 --tensors 10 --tensor 1MB --bucket 4MB,100MB --alpha 1us");
  EXPECT_EQ(found.at("buckets").at(1).at("calls"), 3);
  EXPECT_EQ(found.at("buckets").at(2).at("calls"), 1);
  EXPECT_EQ(found.at("buckets").at(2).at("bucket"), 10'000'000);
  EXPECT_EQ(answer("-p 4 --alpha 0").at("half_latency"), Json());
}

TEST(Buckets, SayHowTheySimulate) {
  const Json rules = answer("-p 4 --alpha 2us --gamma 20GB/s").at("rules");
  EXPECT_EQ(rules.at("ports"), 1);
  EXPECT_EQ(rules.at("order"), "in_order");
  EXPECT_EQ(rules.at("routes"), "up_down");
  EXPECT_DOUBLE_EQ(rules.at("gamma").get<double>(), 1 / 20e9);
  EXPECT_DOUBLE_EQ(rules.at("alpha").get<double>(), 2e-6);
  const std::string text = tutti("buckets -p 16 --topo torus:4x4 --gamma 20GB/s").out;
  EXPECT_NE(text.find("one message in and out of a rank at once; dimension_order routes; sums at "
                      "20GB/s"),
            std::string::npos)
      << text;
}

TEST(Buckets, AreMeasured) {
  const Json found =
      answer("--measure -n 2 --tensors 20 --tensor 4KiB --bucket 16KiB --transport shm");
  EXPECT_EQ(found.at("measured").size(), 2U);
  EXPECT_EQ(found.at("measured").at(1).at("calls"), 5);
  EXPECT_GT(found.at("measured").at(1).at("seconds").get<double>(), 0);
}

}  // namespace
}  // namespace tutti::test
