#include "cli/measure/regret.hpp"

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

namespace tutti::test {
namespace {

using measure::RegretRow;

RegretRow row(double ring, double mesh) {
  RegretRow made{.collective = Collective::allreduce,
                 .bytes = 1024,
                 .ranks = 4,
                 .pairs = Pairs::loopback,
                 .chosen = "allreduce/ring",
                 .runners = {{.algorithm = "allreduce/ring", .seconds = ring, .expected = 3e-6},
                             {.algorithm = "allreduce/mesh", .seconds = mesh, .modelled = 5e-6}}};
  if (mesh < ring) std::swap(made.runners[0], made.runners[1]);
  return made;
}

TEST(Regret, ComparesTheChoiceWithTheFastest) {
  EXPECT_DOUBLE_EQ(row(1e-6, 2e-6).regret(), 1);
  EXPECT_DOUBLE_EQ(row(3e-6, 2e-6).regret(), 1.5);
}

TEST(Regret, IsReadAsItWasWritten) {
  const std::vector<RegretRow> read = measure::read_regret(write(std::vector{row(3e-6, 2e-6)}));
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(read[0].collective, Collective::allreduce);
  EXPECT_EQ(read[0].bytes, 1024);
  EXPECT_EQ(read[0].ranks, 4);
  EXPECT_EQ(read[0].pairs, Pairs::loopback);
  EXPECT_EQ(read[0].choice().expected, 3e-6);
  EXPECT_EQ(read[0].runners.front().modelled, 5e-6);
  EXPECT_DOUBLE_EQ(read[0].regret(), 1.5);
}

TEST(Regret, SortsTheTypicalTimesOfSeveralRuns) {
  const std::vector<RegretRow> all =
      measure::combine({{row(1e-6, 2e-6)}, {row(4e-6, 2e-6)}, {row(4e-6, 2e-6)}});
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].runners.front().algorithm, "allreduce/mesh");
}

/// A run that had little time lacks rows, and algorithms that were predicted to be slow.
TEST(Regret, CombinesRunsThatLackRowsAndAlgorithms) {
  RegretRow short_row = row(4e-6, 2e-6);
  std::erase_if(short_row.runners,
                [](const auto& each) { return each.algorithm.ends_with("mesh"); });
  RegretRow other = row(1e-6, 2e-6);
  other.bytes = 4096;
  const std::vector<RegretRow> all = measure::combine({{short_row}, {row(4e-6, 2e-6), other}});
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].bytes, 1024);
  EXPECT_EQ(all[0].runners.size(), 2);
  EXPECT_DOUBLE_EQ(all[0].regret(), 2);
  EXPECT_EQ(all[1].bytes, 4096);
}

/// The chosen algorithm and the next one are always measured, in cases that fit into the time.
TEST(Regret, LeavesOutWhatDoesNotFitIntoTheTime) {
  run_threads(2, [&](Communicator& communicator) {
    const measure::RegretTask task{.collectives = {Collective::allreduce, Collective::broadcast},
                                   .sizes = {8, 64},
                                   .seconds = 1e-3,
                                   .time = 0};
    EXPECT_TRUE(measure::measure_regret(communicator, task).empty());
    measure::RegretTask brief = task;
    brief.time = 0.02;
    const std::vector<RegretRow> rows = measure::measure_regret(communicator, brief);
    for (const RegretRow& each : rows) {
      EXPECT_GE(each.runners.size(), 2);
      EXPECT_GE(each.regret(), 1);
    }
  });
}

}  // namespace
}  // namespace tutti::test
