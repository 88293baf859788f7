#include "cli/measure/measured_crossover.hpp"

#include <gtest/gtest.h>

#include "core/json_value.hpp"
namespace tutti::test {
namespace {

TEST(MeasuredCrossover, DoublesTheSize) {
  double last = 0;
  run_threads(2, [&](Communicator& communicator) {
    const measure::MeasuredCrossover found =
        measure::measure_crossover(communicator,
                                   {.first = &algorithm("allreduce/ring"),
                                    .second = &algorithm("allreduce/binomial"),
                                    .from = 8,
                                    .to = 16},
                                   [&](double share) { last = share; });
    ASSERT_EQ(found.measured.size(), 2);
    EXPECT_EQ(found.measured[1].bytes, 16);
    EXPECT_GT(found.measured[1].first, 0);
    EXPECT_GT(found.predicted[1].second, 0);
    EXPECT_GT(found.modelled[1].second, 0);
    const auto json = Json::parse(found.json());
    EXPECT_EQ(json.at("first"), "allreduce/ring");
    EXPECT_EQ(json.at("measured").at("times").size(), 2);
  });
  EXPECT_DOUBLE_EQ(last, 1);
}

}  // namespace
}  // namespace tutti::test
