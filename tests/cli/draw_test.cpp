#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/command.hpp"
#include "support/drawing.hpp"

namespace tutti::test {
namespace {

/// A file that is removed at the end of the test.
class Draw : public testing::Test {
 protected:
  ~Draw() override { std::filesystem::remove(path_); }

  [[nodiscard]] std::string path(const std::string& suffix) {
    path_ = std::filesystem::temp_directory_path() /
            ("tutti-draw-" + std::to_string(getpid()) + suffix);
    return path_.string();
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  std::filesystem::path path_;
};

void expect_refusal(const std::string& arguments, const std::string& words) {
  const Outcome outcome = tutti("draw " + arguments);
  EXPECT_EQ(outcome.exit_code, 2) << arguments;
  EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Draw, WritesAPictureOfEveryRound) {
  const Outcome outcome = tutti("draw allreduce/ring -p 4 -o " + path(".svg"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(fault_in_drawing(text()), "");
  for (const std::string words : {"allreduce/ring, 4 ranks", "start", "round 6 of 6: 4 messages",
                                  "By formula: rounds 2(p−1)"}) {
    EXPECT_NE(text().find(words), std::string::npos) << words;
  }
}

TEST_F(Draw, DrawsManyRanksAsTheirOverlay) {
  EXPECT_EQ(tutti("draw allreduce ring -p 64 -o " + path(".svg")).exit_code, 0);
  EXPECT_EQ(fault_in_drawing(text()), "");
  EXPECT_NE(text().find("all rounds together"), std::string::npos);
  EXPECT_EQ(
      tutti("draw allreduce/tree -p 1024 --rounds 1-2 --zoom 0-3 -o " + path(".svg")).exit_code, 0);
  EXPECT_EQ(fault_in_drawing(text()), "");
  EXPECT_NE(text().find("Every node is 16 ranks"), std::string::npos);
}

TEST_F(Draw, DrawsANetworkAlone) {
  const Outcome outcome = tutti("draw --topo torus:4x4 -o " + path(".svg"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(fault_in_drawing(text()), "");
  EXPECT_NE(text().find("16 ranks, 16 nodes, 64 links"), std::string::npos);
}

TEST_F(Draw, WritesAPlayer) {
  const Outcome outcome = tutti("draw allreduce/torus --shape 2x3 -o " + path(".html"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(text().rfind("<!doctype html>", 0), 0);
  EXPECT_NE(text().find("allreduce/torus, 6 ranks (2x3)"), std::string::npos);
}

TEST_F(Draw, DrawsAScheduleFromJson) {
  const std::string json = tutti("explain broadcast/chain -p 3 --json").out;
  const Outcome outcome = tutti("draw --schedule - -o -", json);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(fault_in_drawing(outcome.out), "");
  EXPECT_NE(outcome.out.find("broadcast/chain, 3 ranks, root 0"), std::string::npos);
}

TEST_F(Draw, DrawsSelectedRounds) {
  const Outcome outcome = tutti("draw allreduce/ring -p 16 --rounds 2,7 -o -");
  EXPECT_NE(outcome.out.find("round 7 of 30"), std::string::npos);
  EXPECT_EQ(outcome.out.find("round 3 of 30"), std::string::npos);
  EXPECT_EQ(outcome.out.find("left out"), std::string::npos);
  EXPECT_NE(tutti("draw allreduce/ring -p 16 -o -").out.find("Some rounds are left out"),
            std::string::npos);
}

TEST_F(Draw, DrawsLoadsOnANetworkOfAsManyRanks) {
  const Outcome outcome = tutti("draw allreduce/ring --topo torus:4x4 --size 16MiB -o -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(fault_in_drawing(outcome.out), "");
  EXPECT_NE(outcome.out.find("allreduce/ring, 16 ranks, 16 MiB on torus:4x4"), std::string::npos);
  EXPECT_NE(outcome.out.find("the busiest carries 30 MiB"), std::string::npos);
}

TEST_F(Draw, DrawsATimeline) {
  const Outcome outcome = tutti("draw allreduce/ring -p 4 --topo star:p=4 --timeline -o -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(fault_in_drawing(outcome.out), "");
  EXPECT_NE(outcome.out.find("The critical path has 6 messages"), std::string::npos);
}

TEST_F(Draw, DrawsATraceOfASimulation) {
  const std::string trace = path(".json");
  ASSERT_EQ(tutti("sim allreduce/ring --topo star:p=4 --trace " + trace).exit_code, 0);
  const Outcome outcome = tutti("draw --trace " + trace + " -o -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(fault_in_drawing(outcome.out), "");
  EXPECT_NE(outcome.out.find("rank 3"), std::string::npos);
}

TEST_F(Draw, RefusalsNameTheCure) {
  expect_refusal("-p 4 -o x.svg", "draw what? Name one algorithm");
  expect_refusal("allreduce/ring -p 4 -o x.png", "Name a file that ends in .svg, or in .html");
  expect_refusal("allreduce/ring -p 17 -o x.html", "use -p 16 or fewer");
  expect_refusal("allreduce/ring -p 4 --zoom 1-x -o x.svg", "is not a list of ranks");
  expect_refusal("allreduce/ring -p 4 --timeline -o x.svg", "Add --topo");
  expect_refusal("allreduce/ring --topo star:p=4 -o x.html", "HTML shows only rounds");
  expect_refusal("allreduce/ring --topo star:p=4 --rounds 1 -o x.svg", "all rounds together");
  expect_refusal("allreduce/ring -p 4 --rounds 9 -o x.svg", "there is no round 9");
  expect_refusal("allreduce/ring -p 4 --rounds 3-1 -o x.svg", "'3-1' is not a list of numbers;");
  expect_refusal("allreduce/ring -p 4 -o /nowhere/x.svg", "cannot write the file '/nowhere/x.svg'");
  expect_refusal("allreduce/rign -p 4 -o x.svg", "allreduce/ring");
  expect_refusal("allreduce/ring --trace x.json -o x.svg", "a trace is drawn by itself");
  expect_refusal("--trace x.json -o x.html", "name a file that ends in .svg");
  expect_refusal("--trace /nowhere/x.json -o x.svg", "/nowhere/x.json");
}

}  // namespace
}  // namespace tutti::test
