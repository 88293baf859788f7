#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/command.hpp"

namespace tutti::test {
namespace {

TEST(Sim, TellsTimeOptimumLinksAndPath) {
  const Outcome found = tutti("sim allreduce/ring --topo fat_tree:k=4 --size 1MiB");
  EXPECT_EQ(found.exit_code, 0);
  for (const char* part :
       {"allreduce/ring on fat_tree", "16 ranks", "1MiB", "of this network's optimum",
        "busiest links", "critical path: 30 messages"}) {
    EXPECT_NE(found.out.find(part), std::string::npos) << part << " is not in:\n" << found.out;
  }
}

TEST(Sim, RanksAllAlgorithms) {
  const Outcome found = tutti("sim allreduce/ring --all --topo torus:4x4 --size 64KiB --json");
  EXPECT_EQ(found.exit_code, 0);
  const auto json = nlohmann::json::parse(found.out);
  ASSERT_GT(json.size(), 10U);
  double before = 0;
  for (const auto& each : json) {
    EXPECT_GE(each["seconds"].get<double>(), before);
    before = each["seconds"];
    EXPECT_LE(each["part_of_optimum"].get<double>(), 1 + 1e-9);
  }
}

TEST(Sim, SweepsOverSizes) {
  const Outcome found = tutti("sim allreduce --sweep --from 1KiB --to 16MiB --topo star:8 --svg -");
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_NE(found.out.find("<svg"), std::string::npos);
  const Outcome table = tutti("sim allreduce --sweep --from 1KiB --to 16MiB --topo star:8");
  EXPECT_NE(table.out.find("from 1KiB on: "), std::string::npos) << table.out;
}

TEST(Sim, WritesTraces) {
  const Outcome found = tutti("sim alltoall/pairwise --topo star:4 --size 4KiB --trace -");
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_GT(nlohmann::json::parse(found.out)["traceEvents"].size(), 12U);
}

TEST(Sim, DrawsTimelines) {
  const Outcome found = tutti("sim alltoall/pairwise --topo star:4 --size 4KiB --svg -");
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_NE(found.out.find("<svg"), std::string::npos);
}

TEST(Sim, RefusesWithAWordOnWhatToDo) {
  const Outcome found = tutti("sim allreduce/ring --topo star:4 -p 8");
  EXPECT_EQ(found.exit_code, 2);
  EXPECT_NE(found.err.find("larger network"), std::string::npos) << found.err;
  EXPECT_EQ(tutti("sim --topo star:4").exit_code, 2);
  EXPECT_EQ(tutti("sim allreduce/ring --topo star:4 --sharing evenly").exit_code, 2);
  EXPECT_EQ(tutti("sim allreduce/ring --topo star:4 --place nowhere").exit_code, 2);
}

}  // namespace
}  // namespace tutti::test
