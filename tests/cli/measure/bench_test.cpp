#include "cli/measure/bench.hpp"

#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
namespace tutti::test {
namespace {

using measure::Report;
using measure::Workload;

Workload small(Collective collective) {
  return {.collective = collective,
          .cases = {{.collective = collective, .count = 100},
                    {.collective = collective, .count = 1000}},
          .pace = {.warm_ups = 1, .iterations = 3}};
}

TEST(MeasureBench, ReturnsTheSameRowsOnAllRanks) {
  std::array<Report, 2> reports;
  run_threads(2, [&](Communicator& communicator) {
    reports[communicator.rank()] = measure::bench(communicator, small(Collective::allreduce));
  });
  for (const Report& each : reports) {
    ASSERT_EQ(each.rows.size(), 2);
    EXPECT_EQ(each.wrong(), 0);
    EXPECT_EQ(each.places.size(), 2);
    EXPECT_EQ(each.rows[1].bytes, 4000);
    EXPECT_EQ(each.rows[1].out_of_place.timing.iterations, 3);
    EXPECT_EQ(each.rows[1].in_place->wrong, 0);
    EXPECT_TRUE(each.rows[1].algorithm.starts_with("allreduce/"));
  }
  EXPECT_EQ(reports[0].rows[0].out_of_place.timing.median,
            reports[1].rows[0].out_of_place.timing.median);
}

TEST(MeasureBench, TellsTheObserverOfRankZero) {
  std::atomic<int> begun = 0;
  std::atomic<int> rows = 0;
  run_threads(3, [&](Communicator& communicator) {
    (void)measure::bench(communicator, small(Collective::barrier),
                         {.begin =
                              [&](const Report& report) {
                                ++begun;
                                EXPECT_TRUE(report.rows.empty());
                                EXPECT_EQ(report.places.size(), 3);
                              },
                          .row =
                              [&](const measure::Row& row) {
                                ++rows;
                                EXPECT_FALSE(row.in_place.has_value());
                              }});
  });
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(rows, 2);
}

TEST(MeasureBench, MeasuresTheLimitIfAsked) {
  run_threads(2, [&](Communicator& communicator) {
    Workload workload = small(Collective::broadcast);
    workload.limit = true;
    workload.check = false;
    const Report report = measure::bench(communicator, workload);
    EXPECT_FALSE(report.rows[0].out_of_place.wrong.has_value());
    EXPECT_EQ(report.machine.has_value(), communicator.rank() == 0);
    if (!report.machine) return;
    EXPECT_GT(*report.rows[0].limit, 0);
    EXPECT_FALSE(report.machine->loopback.has_value()) << "threads do not use TCP";
    const auto json = Json::parse(report.json());
    EXPECT_EQ(json.at("transport"), "2 ranks, threads of one process");
    EXPECT_TRUE(json.at("rows").at(0).at("out_of_place").at("wrong").is_null());
  });
}

}  // namespace
}  // namespace tutti::test
