#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

void expect_success(const std::string& arguments, const std::string& part) {
  const Outcome run = tutti(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find(part), std::string::npos) << run.out;
}

void expect_refusal(const std::string& arguments, const std::string& part) {
  const Outcome run = tutti(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

TEST(Synth, NamesTheFastestAlgorithmOfTheTable) {
  expect_success("synth allgather --topo torus:4x4",
                 "the fastest algorithm of the table, allgather/torus 4x4, takes 20.1ms");
  expect_success("synth broadcast --topo star:4 --root 2 --json", R"("algorithm": "broadcast/)");
}

/// Trees are made for long buffers.
TEST(Synth, AFasterAlgorithmOfTheTableIsTheResult) {
  const std::string where = " --topo star:8 --size 1KiB";
  const Outcome text = tutti("synth broadcast" + where);
  EXPECT_NE(text.out.find("so the result is broadcast/"), std::string::npos) << text.out;
  const Outcome json = tutti("synth broadcast --json" + where);
  EXPECT_NE(json.out.find("\"from_table\": true"), std::string::npos) << json.out;
  const Outcome written = tutti("synth broadcast -o -" + where);
  EXPECT_NE(written.out.find("\"name\": \"broadcast/"), std::string::npos);
}

/// The JSON describes the schedule that is written, not the one that it replaces.
TEST(Synth, JsonDescribesTheResult) {
  const Json found = Json::parse(tutti("synth broadcast --json --topo star:8 --size 1KiB").out);
  EXPECT_EQ(found.at("method"), "table");
  EXPECT_FALSE(found.contains("trees"));
  EXPECT_FALSE(found.contains("predicted_seconds"));
  EXPECT_EQ(found.at("replaced").at("method"), "packing");
  EXPECT_EQ(found.at("rules").at("ports"), 0);
  EXPECT_EQ(found.at("rules").at("routes"), "up_down");
  const Json made = Json::parse(tutti("synth broadcast --json --topo star:8").out);
  EXPECT_EQ(made.at("method"), "packing");
  EXPECT_EQ(made.at("direct"), false);
}

/// A named method gives its own schedule, and without simulations nothing is compared.
TEST(Synth, WarnsOfAScheduleThatMayBeSlowerThanTheTable) {
  const std::string synth = "synth broadcast -o - --topo star:8 --size 1KiB";
  const Outcome named = tutti(synth + " --method packing");
  EXPECT_NE(named.err.find(" of the table is "), std::string::npos) << named.err;
  EXPECT_NE(named.err.find("times as fast as this schedule"), std::string::npos) << named.err;
  const Outcome unknown = tutti(synth + " --no-sim");
  EXPECT_NE(unknown.err.find("not compared with the algorithms of the table"), std::string::npos)
      << unknown.err;
  EXPECT_EQ(tutti(synth).err, "");
}

TEST(Synth, WhatItWritesCanBeVerifiedSimulatedAndRun) {
  const TemporaryDirectory directory;
  const std::string schedule = directory.path() + "/s.json";
  const std::string network = directory.path() + "/n.json";
  expect_success("synth allreduce --topo ring:4 -o " + schedule + " --network-output " + network,
                 "of the best possible reduce_scatter then allgather");
  expect_success("verify --schedule " + schedule, "1");
  expect_success("sim --schedule " + schedule + " --topo " + network + " --ports 0 --in-order",
                 "critical path");
  expect_success(
      "bench allreduce -n 4 --transport inproc --sizes 64K --iters 2 --schedule " + schedule, "0");
}

TEST(Synth, FiguresAreJson) {
  expect_success("synth allgather --topo torus:4x4 --json", "\"part_of_best\": 0.99");
  expect_success("synth allgather --topo torus:3x3 --method greedy --json", "\"greedy\"");
}

TEST(Synth, RefusesInOneSentence) {
  expect_refusal("synth alltoall --topo ring:4", "not for alltoall");
  expect_refusal("synth allgather --topo ring:4 --method gready", "Did you mean 'greedy'");
  expect_refusal("synth allgather --topo star:1000000", "too large");
  expect_refusal("synth allgather --topo ring:4 --method exhaustive --chunks 99", "64 chunks");
}

TEST(Synth, ASchedulePassesThroughMsccl) {
  const TemporaryDirectory directory;
  const std::string xml = directory.path() + "/ring.xml";
  const Outcome written = tutti("explain allreduce/ring -p 4 --msccl");
  EXPECT_EQ(written.exit_code, 0) << written.err;
  const Outcome read = tutti("verify --schedule -", written.out);
  EXPECT_EQ(read.exit_code, 0) << read.err;
}

}  // namespace
}  // namespace tutti::test
