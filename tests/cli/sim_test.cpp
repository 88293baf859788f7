#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

TEST(Sim, PrintsTimeOptimumLinksAndPath) {
  const Outcome found = tutti("sim allreduce/ring --topo fat_tree:k=4 --size 1MiB");
  EXPECT_EQ(found.exit_code, 0);
  for (const char* part :
       {"allreduce/ring on fat_tree", "16 ranks", "1MiB", "of the bound for these ports",
        "one message in and out of a rank at once; up_down routes; sums take no time",
        "busiest links", "critical path: 30 messages"}) {
    EXPECT_NE(found.out.find(part), std::string::npos) << part << " is not in:\n" << found.out;
  }
}

TEST(Sim, ComparesAllAlgorithms) {
  const Outcome found = tutti("sim allreduce/ring --all --topo torus:4x4 --size 64KiB --json");
  EXPECT_EQ(found.exit_code, 0);
  const auto json = Json::parse(found.out);
  ASSERT_GT(json.size(), 10U);
  double before = 0;
  for (const auto& each : json) {
    EXPECT_GE(each["seconds"].get<double>(), before);
    before = each["seconds"].get<double>();
    EXPECT_LE(each["part_of_bound"].get<double>(), 1 + 1e-9);
  }
}

TEST(Sim, JsonNamesTheRules) {
  const auto rules = [](const std::string& more) {
    return Json::parse(tutti("sim allreduce/ring --topo torus:4x4 --size 64KiB --json" + more).out)
        .at("rules");
  };
  EXPECT_EQ(rules(""), (Json{{"ports", 1},
                             {"order", "in_order"},
                             {"routes", "dimension_order"},
                             {"gamma", 0.0},
                             {"alpha", 0.0}}));
  const Json others = rules(" --ports 2 --any-order --routes shortest --gamma 20GB/s --alpha 1us");
  EXPECT_EQ(others.at("ports"), 2);
  EXPECT_EQ(others.at("order"), "any_order");
  EXPECT_EQ(others.at("routes"), "shortest");
  EXPECT_EQ(others.at("gamma"), 1 / 20e9);
  EXPECT_EQ(others.at("alpha"), 1e-6);
  EXPECT_EQ(rules(" --sweep --from 1KiB --to 1KiB").at("ports"), 1);
}

/// A ring uses one link of a rank at a time, and that fully.
TEST(Sim, SharesAreOfTheBoundForTheSamePorts) {
  const auto share = [](const std::string& more) {
    const Outcome found =
        tutti("sim allreduce/ring --topo torus:4x4,latency=0 --size 64MiB --json" + more);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return Json::parse(found.out)["part_of_bound"].get<double>();
  };
  EXPECT_NEAR(share(""), 1, 1e-6);
  EXPECT_NEAR(share(" --ports 2"), 0.5, 1e-6);
  EXPECT_NEAR(share(" --ports 0"), 0.25, 1e-6);
}

TEST(Sim, MessagesOfAPairAreInOrderUnlessAskedOtherwise) {
  const auto time = [](const std::string& more) {
    const Outcome found =
        tutti("sim broadcast/chain:segments=16 --topo star:8 --size 64MiB --ports 0 --json" + more);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return Json::parse(found.out)["seconds"].get<double>();
  };
  EXPECT_EQ(time(""), time(" --in-order"));
  EXPECT_LT(3 * time(""), time(" --any-order"));
  EXPECT_EQ(tutti("sim allreduce/ring --topo star:4 --in-order --any-order").exit_code, 2);
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
  EXPECT_GT(Json::parse(found.out)["traceEvents"].size(), 12U);
}

TEST(Sim, DrawsTimelines) {
  const Outcome found = tutti("sim alltoall/pairwise --topo star:4 --size 4KiB --svg -");
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_NE(found.out.find("<svg"), std::string::npos);
}

/// Instead of silently drawing only one.
TEST(Sim, RefusesToDrawSeveralSimulations) {
  for (const char* const many : {"--all --svg -", "--all --trace -", "--sweep --trace -"}) {
    const Outcome found = tutti("sim allreduce --topo star:4 " + std::string(many));
    EXPECT_EQ(found.exit_code, 2) << many;
    EXPECT_NE(found.err.find("name one algorithm"), std::string::npos) << found.err;
  }
}

/// The optimum needs bandwidths with a common divisor, which measured ones may lack.
TEST(Sim, OmitsAnUnknownOptimum) {
  const TemporaryDirectory directory;
  auto network = Json::parse(tutti("topo json star:2").out);
  network["links"][0]["bandwidth"] = 12345678901.7;
  network["links"][1]["bandwidth"] = 0.1;
  std::ofstream(directory.path("measured.json")) << network;
  const Outcome found = tutti("sim allreduce/ring --topo " + directory.path("measured.json"));
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(found.out.find("bound"), std::string::npos) << found.out;
  const Outcome shown = tutti("topo show " + directory.path("measured.json"));
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("no common divisor"), std::string::npos) << shown.out;
}

TEST(Sim, RefusalsNameTheCure) {
  const Outcome found = tutti("sim allreduce/ring --topo star:4 -p 8");
  EXPECT_EQ(found.exit_code, 2);
  EXPECT_NE(found.err.find("larger network"), std::string::npos) << found.err;
  const Outcome placed = tutti("sim allreduce/ring --topo star:4 -p 8 --place random");
  EXPECT_EQ(placed.exit_code, 2);
  EXPECT_NE(placed.err.find("larger network"), std::string::npos) << placed.err;
  EXPECT_EQ(tutti("sim --topo star:4").exit_code, 2);
  EXPECT_EQ(tutti("sim allreduce/ring --topo star:4 --sharing evenly").exit_code, 2);
  EXPECT_EQ(tutti("sim allreduce/ring --topo star:4 --place nowhere").exit_code, 2);
}

/// The order that `topo order` finds can be used.
TEST(Sim, PlacesRanksByAList) {
  const TemporaryDirectory directory;
  const std::string order = directory.path("order.txt");
  ASSERT_EQ(tutti("topo order torus:4x4 -o " + order).exit_code, 0);
  const auto seconds = [](const std::string& place) {
    const Outcome found = tutti("sim allreduce/ring --topo torus:4x4 --json --place " + place);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return Json::parse(found.out)["seconds"].get<double>();
  };
  EXPECT_LT(seconds("file:" + order), seconds("order"));
  EXPECT_EQ(seconds("0,1,2,3,7,6,5,4,8,9,10,11,15,14,13,12"), seconds("file:" + order));
  const Outcome few = tutti("sim allreduce/ring --topo torus:4x4 --place 0,1,2");
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.err.find("names 3 places for 16 ranks"), std::string::npos) << few.err;
}

TEST(Sim, TriesEveryShapeThatFits) {
  const Outcome found = tutti("sim allreduce --all --topo multi_rail:nodes=2,gpus=4 --size 1MiB");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  for (const char* const each : {"allreduce/ring_ring 4x2", "allreduce/ring_ring 2x4"}) {
    EXPECT_NE(found.out.find(each), std::string::npos) << found.out;
  }
}

TEST(Sim, RefusesWithAnEstimate) {
  const Outcome found =
      tutti("sim alltoall/mesh --topo star:4096 --place random --every-rank --size 64MiB");
  EXPECT_EQ(found.exit_code, 2);
  EXPECT_NE(found.err.find("GB of memory"), std::string::npos) << found.err;
}

TEST(Sim, ShowsBothBoundsOfAnAllreduce) {
  const Outcome found =
      tutti("sim allreduce/binary_tree --topo line:8 --ports 0 --slice 256KiB --json");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const auto json = Json::parse(found.out);
  EXPECT_LE(json["part_of_bound"].get<double>(), 1);
  EXPECT_NEAR(json["part_of_composition"].get<double>() / json["part_of_bound"].get<double>(),
              7.0 / 4, 1e-9);
}

}  // namespace
}  // namespace tutti::test
