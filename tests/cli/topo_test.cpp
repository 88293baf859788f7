#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

const std::string lecture = "\"" TUTTI_GOLDEN_DIR "/../../examples/networks/lecture.json\"";

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
  expect_output("topo stretch torus:4x4 --algo allreduce/halving_doubling",
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

TEST(Topo, DrawsARingOverItsNetwork) {
  const TemporaryDirectory directory;
  const Outcome found =
      tutti("topo stretch " + lecture + " --order A,C,D,B --svg " + directory.path("ring.svg"));
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const std::string svg = directory.read("ring.svg");
  for (const char* const part : {"The ring A-C-D-B", "Average stretch 3.5", ">A<", "5 links",
                                 "2 links", "hop of the overlay", "2 hops"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  expect_refusal("topo stretch torus:32x32 --svg -", "at most 400 can be drawn");
}

/// A sentence that names the node or link, and no hang.
TEST(Topo, RefusesBadNetworks) {
  const TemporaryDirectory directory;
  const auto refuse = [&](const char* links, const char* part) {
    const std::string path = directory.path("bad.json");
    std::ofstream(path) << R"({"format": "tutti-network", "version": 1, "name": "bad",
      "nodes": [{"name": "A", "kind": "rank"}, {"name": "B", "kind": "rank"},
                {"name": "C", "kind": "rank"}], "links": [)"
                        << links << "]}";
    for (const char* const command :
         {"topo show ", "topo order ", "sim allreduce --all --topo ", "choose allreduce --topo ",
          "draw allreduce/ring -o - --topo ", "cost allreduce --size 1MiB -p 3 --topo "}) {
      expect_refusal(command + path, part);
    }
  };
  const char* const joined = R"({"from": "A", "to": "B", "bandwidth": "1GB/s", "both_ways": true})";
  refuse(joined, "no path leads from A to C");
  refuse((joined + std::string(R"(, {"from": "A", "to": "C", "bandwidth": "1GB/s"})")).c_str(),
         "no path leads from C to A");
  refuse((joined + std::string(R"(, {"from": "A", "to": "C", "bandwidth": 0})")).c_str(),
         "bandwidth");
  refuse((joined + std::string(R"(, {"from": "A", "to": "C", "bandwidth": "-1GB/s"})")).c_str(),
         "bandwidth");
}

/// What would take long is left out or refused.
TEST(Topo, NetworksOfManyNodesAreShownOrRefused) {
  const Outcome shown = tutti("topo show star:p=200000");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("not computed for a network of this size"), std::string::npos);
  expect_refusal("topo order star:p=200000", "4096");
  expect_refusal("draw allreduce/ring -o - --topo star:p=200000", "400");
  expect_refusal("sim alltoall/mesh --topo star:p=200000 --size 1GiB", "GB of memory");
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
