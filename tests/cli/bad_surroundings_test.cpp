#include <filesystem>

#include <gtest/gtest.h>

#include "cli/run_support.hpp"
#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/temporary_directory.hpp"

/// Commands with full disks and endless or huge inputs.
namespace tutti::test {
namespace {

class WithoutRoom : public ::testing::TestWithParam<const char*> {};

TEST_P(WithoutRoom, ReportsTheFailedWrite) {
  const Outcome run = tutti(std::string(GetParam()) + " >/dev/full");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_TRUE(contains(run.err, "cannot write")) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Cli, WithoutRoom,
    ::testing::Values("--help", "--version", "list", "list --json", "explain allreduce/ring -p 4",
                      "explain allreduce/ring -p 4 --json", "verify allreduce/ring -p 4",
                      "verify allreduce/ring -p 4 --json", "cost allreduce -p 4",
                      "crossover allreduce/ring allreduce/mesh -p 4",
                      "sim allreduce/ring --topo star:p=4", "topo list", "topo json star:p=4",
                      "draw allreduce/ring -p 4 -o -", "choose allreduce -n 4",
                      "bench allreduce -n 2 -b 8 -e 8 --iters 1",
                      "bench allreduce --transport inproc -n 2 -b 8 -e 8 --iters 1",
                      "bench allreduce -n 2 -b 8 -e 8 --iters 1 --csv -", "run -n 2 -- echo here",
                      "run -n 1 -- sh -c 'echo here; sleep 0.1'"));

TEST(WithoutRoom, ReportsTheFile) {
  const Outcome drawn = tutti("draw allreduce/ring -p 4 -o /dev/full.svg/x.svg");
  EXPECT_EQ(drawn.exit_code, 2);
  EXPECT_TRUE(contains(drawn.err, "cannot write the file '/dev/full.svg/x.svg'")) << drawn.err;
  const TemporaryDirectory directory;
  // Standard error is a file, too.
  const Outcome limited = shell("(ulimit -f 0; " TUTTI_IN_SHELL " draw allreduce/ring -p 4 -o " +
                                directory.path("x.svg") + " 2>&1; echo exit $?) | cat");
  EXPECT_TRUE(contains(limited.out, "raise the limit (ulimit -f)")) << limited.out;
  EXPECT_TRUE(contains(limited.out, "exit 2")) << limited.out;
}

class Endless : public ::testing::TestWithParam<const char*> {};

TEST_P(Endless, InputIsReadUpToALimit) {
  const Outcome run = shell(std::string(GetParam()));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "MiB, which is the limit")) << run.err;
}

INSTANTIATE_TEST_SUITE_P(Cli, Endless,
                         ::testing::Values(TUTTI_IN_SHELL " blame /dev/zero",
                                           TUTTI_IN_SHELL " topo order --matrix /dev/zero",
                                           TUTTI_IN_SHELL " verify --schedule - </dev/zero",
                                           "TUTTI_PROFILE=/dev/zero " TUTTI_IN_SHELL
                                           " choose allreduce -n 4",
                                           "TUTTI_RULES=/dev/zero " TUTTI_IN_SHELL
                                           " choose allreduce -n 4"));

/// These would not fit into any machine, so they must be refused before anything is built.
TEST(TooLarge, IsRefusedBeforeItIsBuilt) {
  for (const char* const words :
       {"draw allreduce/ring -p 16000000 -o x.svg", "draw alltoall/mesh -p 1000000 -o x.html",
        "draw allreduce/ring --topo star:p=100000 -o x.svg",
        "draw allreduce/ring --topo star:p=100000 --timeline -o x.svg",
        "draw allreduce/ring --topo star:p=8 -p 1000000 -o x.svg"}) {
    const Outcome run = tutti(words);
    EXPECT_EQ(run.exit_code, 2) << words;
    EXPECT_TRUE(contains(run.err, "draw") || contains(run.err, "on a network of 8")) << run.err;
  }
}

TEST(TooLarge, IsRefusedIfItCannotFitIntoMemory) {
  for (const char* const words :
       {"explain allreduce/ring -p 10000000", "verify allreduce/ring -p 10000000",
        "cost allreduce/mesh -p 10000000", "crossover allreduce/ring allreduce/mesh -p 10000000",
        "topo stretch star:p=200000 --algo allreduce/ring"}) {
    const Outcome run = tutti(words);
    EXPECT_EQ(run.exit_code, 2) << words;
    EXPECT_TRUE(contains(run.err, "do not fit into the memory")) << words << ": " << run.err;
  }
}

TEST(StandardOutput, TakesOneFileOfABench) {
  const TemporaryDirectory directory;
  const std::string bench = "cd " + directory.path() + "; " + TUTTI_IN_SHELL +
                            " bench allreduce -n 2 -b 8 -e 8 --iters 1 ";
  const Outcome json = shell(bench + "--json -");
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(Json::parse(json.out).at("ranks"), 2);
  EXPECT_TRUE(contains(json.err, "busbw")) << "the table is elsewhere: " << json.err;
  const Outcome csv = shell(bench + "--transport inproc --csv -");
  EXPECT_EQ(csv.out.rfind("collective,ranks,bytes", 0), 0U) << csv.out;
  const Outcome both = shell(bench + "--csv - --json -");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_TRUE(contains(both.err, "only one of --json, --csv and --plot")) << both.err;
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "no file is called -";
}

TEST(StandardOutput, IsAFileOnlyIfTheCommandSucceeds) {
  const TemporaryDirectory directory;
  const std::string file = directory.path("x.json");
  const Outcome failed = tutti("verify allreduce/no_such -p 4 --json=" + file);
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "a failed command leaves a file";
  EXPECT_EQ(tutti("verify allreduce/ring -p 4 --json=" + file).exit_code, 0);
  const std::string proved = directory.read("x.json");
  EXPECT_FALSE(Json::parse(proved).empty());
  EXPECT_EQ(tutti("verify allreduce/no_such -p 4 --json=" + file).exit_code, 2);
  EXPECT_EQ(directory.read("x.json"), proved) << "a failed command takes an earlier result away";
  const Outcome full = tutti("verify allreduce/ring -p 4 --json=/dev/full");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_TRUE(contains(full.err, "cannot write to '/dev/full'")) << full.err;
}

}  // namespace
}  // namespace tutti::test
