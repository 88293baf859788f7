#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

const std::string lecture = std::string(TUTTI_GOLDEN_DIR) + "/../../examples/networks/lecture.json";

void expect_output(const std::string& arguments, const std::string& golden,
                   const std::string& input = "") {
  const Outcome run = tutti(arguments, input);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  expect_golden("cli/" + golden + ".txt", run.out);
}

void expect_refusal(const std::string& arguments, const std::string& part) {
  const Outcome run = tutti(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

TEST(TopoGolden, List) { expect_output("topo list", "topo-list"); }

TEST(TopoGolden, ShowTorus) {
  expect_output("topo show torus:4x4,bandwidth=1B/s", "topo-show-torus-4x4");
}

TEST(TopoGolden, ShowGpuNodes) {
  expect_output("topo show multi_rail:nodes=4,gpus=8", "topo-show-multi-rail");
}

TEST(TopoGolden, StretchOfTheLectureExample) {
  expect_output("topo stretch " + lecture + " --order A,C,D,B", "topo-stretch-acdb");
  expect_output("topo stretch " + lecture + " --order A,C,B,D", "topo-stretch-acbd");
}

TEST(TopoGolden, StretchOfASchedule) {
  expect_output("topo stretch torus:4x4 --schedule allreduce/halving_doubling",
                "topo-stretch-schedule");
}

TEST(TopoGolden, Order) { expect_output("topo order " + lecture, "topo-order-lecture"); }

/// The ring must avoid the slow edges within the pairs.
TEST(TopoGolden, OrderOfAMatrix) {
  expect_output("topo order --matrix /dev/stdin --size 1GB", "topo-order-matrix",
                "0, 1GB/s, 10GB/s, 10GB/s\n"
                "1GB/s, 0, 10GB/s, 10GB/s\n"
                "10GB/s, 10GB/s, 0, 1GB/s\n"
                "10GB/s, 10GB/s, 1GB/s, 0\n");
}

TEST(Topo, ReadsItsOwnJson) {
  const Outcome written = tutti("topo json fat_tree:k=4");
  EXPECT_EQ(written.exit_code, 0) << written.err;
  const std::string path =
      testing::TempDir() + "tutti-topo-" + std::to_string(::getpid()) + ".json";
  std::ofstream(path) << written.out;
  EXPECT_EQ(tutti("topo json " + path).out, written.out);
  std::filesystem::remove(path);
}

TEST(Topo, RefusesADirectory) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("networks.json");
  std::filesystem::create_directory(path);
  expect_refusal("topo show " + path, "cannot read the file '" + path + "'");
  expect_refusal("topo order --matrix " + path, "cannot read the file '" + path + "'");
}

TEST(Topo, PrintsGraphvizDot) {
  const Outcome dot = tutti("topo dot server:p=2");
  EXPECT_EQ(dot.exit_code, 0) << dot.err;
  EXPECT_EQ(dot.out.find("digraph \"server:p=2\" {"), 0U);
}

TEST(Topo, RefusalsNameTheCure) {
  expect_refusal("topo show tours:4x4", "Did you mean 'torus'?");
  expect_refusal("topo show star:p=4 --routes ecpm", "Did you mean 'ecmp'?");
  expect_refusal("topo stretch star:p=4 --order r0,r9", "no rank of star:p=4 is called 'r9'");
  expect_refusal("topo stretch star:p=4 --order r0,r1,r0", "names 'r0' twice");
  expect_refusal("topo order", "give either a network or --matrix FILE");
  expect_refusal("topo order star:p=4 --matrix x.csv", "give either a network or --matrix FILE");
  expect_refusal("topo order --matrix /nowhere/x.csv", "cannot read the file");
}

}  // namespace
}  // namespace tutti::test
