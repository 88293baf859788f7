#include "support/command.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "core/json_value.hpp"
#include "support/golden.hpp"

namespace tutti::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Golden, ExplainRing) {
  const Outcome run = tutti("explain allreduce/ring -p 5");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  expect_golden("cli/explain-allreduce-ring-5.txt", run.out);
}

TEST(Golden, ExplainInColour) {
  expect_golden("cli/explain-reduce-binomial-3-colour.txt",
                tutti("explain reduce/binomial -p 3 --root 1 --color always").out);
}

TEST(Golden, ExplainAlltoall) {
  expect_golden("cli/explain-alltoall-bruck-3.txt", tutti("explain alltoall/bruck -p 3").out);
}

/// A schedule with local steps and variants of its chunk.
TEST(Golden, ExplainRelay) {
  const std::string path = "\"" TUTTI_GOLDEN_DIR "/../../examples/schedules/relay.json\"";
  const Outcome run = tutti("explain --schedule " + path);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  expect_golden("cli/explain-relay.txt", run.out);
  EXPECT_EQ(tutti("verify --schedule " + path).exit_code, 0);
  EXPECT_EQ(tutti("explain").exit_code, 2);
}

TEST(Golden, List) { expect_golden("cli/list.txt", tutti("list").out); }

TEST(Golden, CostAsSharesOfTheData) {
  expect_golden("cli/cost-allreduce-5.txt", tutti("cost allreduce -p 5").out);
}

TEST(Golden, CostWithTimes) {
  expect_golden(
      "cli/cost-allreduce-8-1MiB.txt",
      tutti("cost allreduce -p 8 --size 1MiB --alpha 1us --bandwidth 100GB/s --gamma 0").out);
}

TEST(Golden, AlgorithmsDocument) {
  // docs/algorithms.md is written by ./dev docs.
  std::ifstream file(std::filesystem::path(TUTTI_GOLDEN_DIR) / "../../docs/algorithms.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), tutti("list --markdown").out) << "run ./dev docs";
}

TEST(List, JsonHasEveryAlgorithm) {
  const Json list = Json::parse(tutti("list --json").out);
  ASSERT_EQ(list.size(), algorithms().size());
  EXPECT_EQ(list.at(0).at("name"), "broadcast/flat");
}

TEST(Explain, JsonReadsBackEqual) {
  const Outcome run = tutti("explain allreduce/torus --shape 2x3 --json");
  EXPECT_EQ(schedule_from_json(run.out),
            algorithm("allreduce/torus").schedule({.ranks = 6, .shape = {{2, 3}}}));
}

TEST(Explain, ExplainsEveryAlgorithm) {
  for (const Algorithm& each : algorithms()) {
    const Outcome run = tutti("explain " + std::string(each.name) + " -p 6");
    EXPECT_EQ(run.exit_code, 0) << each.name << run.err;
    EXPECT_TRUE(contains(run.out, "Proved")) << each.name;
  }
}

TEST(Explain, LeavesOutTablesThatAreTooLarge) {
  const Outcome run = tutti("explain allreduce/ring -p 32");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.out, "only the messages follow"));
}

TEST(Verify, ProvesTheTable) {
  const Outcome run = tutti("verify --all -p 1-9");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "all proved")) << run.out;
  EXPECT_TRUE(contains(run.out, "allreduce/torus"));
}

TEST(Verify, ReadsASchedule) {
  const std::string ring = tutti("explain allreduce/ring -p 4 --json").out;
  const Outcome run = tutti("verify --schedule -", ring);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(Verify, ExitsWith1AndNamesTheViolation) {
  std::string ring = tutti("explain allreduce/ring -p 4 --json").out;
  const std::string fold = "\"from\": [3, \"own\"]";
  const std::size_t at = ring.find(fold);
  ASSERT_NE(at, std::string::npos);
  ring.replace(at, fold.size(), "\"from\": [3]");
  const Outcome run = tutti("verify --schedule -", ring);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, "wrong output: rank 0")) << run.out;
  EXPECT_TRUE(contains(run.out, "lacks a")) << run.out;
  const Json document = Json::parse(tutti("verify --json --schedule -", ring).out);
  EXPECT_GT(document.at("verified").at(0).at("violations").get<int>(), 0);
}

TEST(Verify, DerivesTheNumberOfRanksFromTheShape) {
  const Outcome run = tutti("verify allreduce/ring_ring --shape 4x3");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "1 schedule,")) << run.out;
}

TEST(Cost, JsonHasFiguresBoundsAndTimes) {
  const Json document = Json::parse(
      tutti("cost allreduce/ring -p 4 --size 4MB --alpha 1us --bandwidth 1GB/s --json").out);
  const Json& ring = document.at("algorithms").at(0);
  EXPECT_EQ(ring.at("most_sent"), 6000000);
  EXPECT_EQ(ring.at("bounds").at("most_sent"), 6000000);
  EXPECT_EQ(ring.at("one_port").at("messages"), 6);
  EXPECT_NEAR(ring.at("one_port").at("seconds").get<double>(), 6e-6 + 6e-3, 1e-9);
}

TEST(Cost, ListsTheCheapestFirst) {
  const Json document = Json::parse(tutti("cost allreduce -p 12 --size 64KiB --json").out);
  double before = 0;
  for (const Json& each : document.at("algorithms")) {
    const auto seconds = each.at("one_port").at("seconds").get<double>();
    EXPECT_GE(seconds, before);
    before = seconds;
  }
}

TEST(Cost, ShowsFormulas) {
  const Outcome run = tutti("cost allreduce/ring -p 4 --formulas");
  EXPECT_TRUE(contains(run.out, "2(p−1)α")) << run.out;
}

TEST(Crossover, IsThatOfTheLectureNotes) {
  const Json found = Json::parse(tutti("crossover allreduce/ring allreduce/binomial -p 64 --alpha "
                                       "1us --bandwidth 100GB/s --json")
                                     .out);
  EXPECT_NEAR(found.at("size").get<double>(), 1136449, 64);
  EXPECT_EQ(found.at("faster_below"), "allreduce/binomial");
}

TEST(Crossover, DrawsItsPicture) {
  const Outcome run =
      tutti("crossover allreduce/ring allreduce/binomial -p 64 --alpha 1us --svg -");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* const part : {"<svg", "allreduce/ring and allreduce/binomial", "1.136 MB",
                                 "allreduce/ring is faster from the mark on"}) {
    EXPECT_TRUE(contains(run.out, part)) << part;
  }
}

TEST(Cost, PricesSharedLinksOfANetwork) {
  const Json found = Json::parse(
      tutti("cost allgather/mesh -p 8 --size 8MiB --topo star:8,bandwidth=8GiB/s,latency=0 --json "
            "--bandwidth 8GiB/s --alpha 0")
          .out);
  const Json& mesh = found.at("algorithms")[0];
  // Seven blocks share the link of a rank; with own links they take the time of one.
  EXPECT_NEAR(mesh.at("own_links").at("seconds").get<double>(), 1.0 / 8192, 1e-9);
  EXPECT_NEAR(mesh.at("on_network").at("seconds").get<double>(), 7.0 / 8192, 1e-9);
  EXPECT_EQ(tutti("cost allgather/mesh -p 8 --topo star:8").exit_code, 2);
}

TEST(Crossover, ReportsThatThereIsNone) {
  const Outcome run = tutti("crossover allreduce/bruck allreduce/root -p 8");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.out, "no crossover")) << run.out;
}

/// A wrong command line exits with 2, prints nothing to standard output, and names the cure.
struct Slip {
  const char* arguments;
  const char* cure;
};

class Slips : public ::testing::TestWithParam<Slip> {};

TEST_P(Slips, AreExplained) {
  const Outcome run = tutti(GetParam().arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(contains(run.err, GetParam().cure)) << run.err;
  EXPECT_EQ(run.err.rfind("tutti: ", 0), 0U) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Cli, Slips,
    ::testing::Values(
        Slip{"", "subcommand is required"}, Slip{"expain allreduce/ring -p 5", "'explain'"},
        Slip{"explain allreduce/rng -p 5", "Did you mean 'allreduce/ring'?"},
        Slip{"explain allreduce/ring", "Add -p"},
        Slip{"explain allreduce/ring -p 0", "1 to 16777216"},
        Slip{"explain allreduce/ring -p five", "five"},
        Slip{"explain broadcast/flat -p 4 --root 4", "root 4 is not one of the 4 ranks 0 to 3"},
        Slip{"explain allreduce/ring_ring -p 6 --shape 4x2", "use --shape 3x2"},
        Slip{"explain allreduce/torus -p 8 --shape 8", "2 or 3 dimensions"},
        Slip{"explain allreduce/torus -p 8 --shape 2y4", "joined by 'x'"}, Slip{"verify", "--all"},
        Slip{"verify allredce -p 4", "Did you mean 'allreduce'?"},
        Slip{"verify --all -p 3-1", "for example 8, 1-33 or 2,4,8"},
        Slip{"verify --all -p 4 --root seven", "a rank, or all"},
        Slip{"verify --all -p 1000000000", "1000000000 is more than 16777216"},
        Slip{"verify --all -p 99999999999999999999", "is more than 16777216"},
        Slip{"verify --all -p 1-16777216,1-3", "is more than 16777216"},
        Slip{"cost allreduce -p 4 --size nan", "'nan' is not a size"},
        Slip{"cost allreduce -p 4 --size inf", "'inf' is not a size"},
        Slip{"cost allreduce -p 4 --size=-1", "'-1' is not a size"},
        Slip{"cost allreduce -p 4 --size 1K --alpha nan", "'nan' is not a time"},
        Slip{"run -n 1 --timeout nan -- true", "'nan' is not a number from 0.001"},
        Slip{"run -n 1 --timeout inf -- true", "'inf' is not a number from 0.001"},
        Slip{"run -n 1 --grace nan -- true", "'nan' is not a number from 0"},
        Slip{"bench allreduce -n 2 --seconds nan", "'nan' is not a number from"},
        Slip{"bench allreduce -n 2 --vs gloo --patience nan", "'nan' is not a number from"},
        Slip{"tune -n 2 --time nan", "'nan' is not a number from"},
        Slip{"verify --schedule /no/such/file", "cannot read the file '/no/such/file'"},
        Slip{"verify --schedule -", "line 1"}, Slip{"cost allreduce -p 4 --size 1XB", "1MiB"},
        Slip{"cost allreduce -p 4 --size 1.5", "1MiB"},
        Slip{"cost allreduce -p 4 --size 1MiB --alpha 3kg", "1us"},
        Slip{"cost allreduce -p 4 --size 1MiB --bandwidth 0GB/s", "100GB/s"},
        Slip{"cost allreduce -p 4 --size 1MiB --gamma fast", "10GB/s"},
        Slip{"crossover allreduce/ring allgather/ring -p 4", "same collective"},
        Slip{"crossover allreduce/ring -p 4", "name two algorithms"},
        Slip{"run -n 4", "tutti run -n 4 -- ./program"},
        Slip{"run -n 4 --", "tutti run -n 4 -- ./program"}, Slip{"run -- true", "Add -n"},
        Slip{"run -n 0 -- true", "1 to 4096"}, Slip{"run -n 5000 -- true", "1 to 4096"},
        Slip{"run -n 2 --rank 4 -- true", "no option '--rank'"},
        Slip{"run -n 2 -x NAME -- true", "-x NAME=VALUE"},
        Slip{"run -n 2 --bind socket -- true", "none,share,core"},
        Slip{"run -n 2 --timeout -1 -- true", "--timeout"},
        Slip{"run -n 2 --output /dev/null/x -- true",
             "cannot create the directory '/dev/null/x'"}));

}  // namespace
}  // namespace tutti::test
