#include <filesystem>

#include <gtest/gtest.h>

#include "support/command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

std::string candidates(const std::string& words) { return tutti("complete -- " + words).out; }

TEST(Completion, KnowsCommandsOptionsAndNames) {
  EXPECT_EQ(candidates("cro"), "crossover\n");
  EXPECT_EQ(candidates("topo str"), "stretch\n");
  EXPECT_EQ(candidates("cost --band"), "--bandwidth\n");
  EXPECT_EQ(candidates("explain allreduce/ring_n"), "allreduce/ring_naive\n");
  EXPECT_EQ(candidates("explain --color al"), "always\n");
  EXPECT_EQ(candidates("help expla"), "explain\n");
  EXPECT_EQ(candidates("sim allreduce/ring --topo toru"), "torus:4x4\n");
  EXPECT_EQ(candidates("explain --file x"), "") << "files are the shell's";
}

TEST(Completion, WorksInBash) {
  const Outcome run =
      shell("PATH=$(dirname " TUTTI_COMMAND
            "):$PATH bash -c 'source <(tutti completion bash); COMP_LINE=\"tutti topo sho\"; "
            "COMP_POINT=14; _tutti; echo ${COMPREPLY[@]}; "
            "COMP_LINE=\"tutti sim --topo torus:\"; COMP_POINT=23; _tutti; echo ${COMPREPLY[@]}'");
  EXPECT_EQ(run.out, "show\n4x4\n") << run.err;
  for (const std::string each : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(tutti("completion " + each).exit_code, 0);
  }
  EXPECT_EQ(tutti("completion csh").exit_code, 2);
}

TEST(Manual, HasAPageForEveryCommand) {
  const TemporaryDirectory folder;
  ASSERT_EQ(tutti("man -o " + folder.path()).exit_code, 0);
  for (const std::string each : {"tutti.1", "tutti-cost.1", "tutti-topo.1"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/" + each)) << each;
  }
  EXPECT_NE(tutti("man explain").out.find("\\-\\-values LISTS"), std::string::npos);
  EXPECT_EQ(tutti("man nothing").exit_code, 2);
}

TEST(Help, IsTheSameByEveryWay) {
  EXPECT_EQ(tutti("help topo show").out, tutti("topo show --help").out);
  EXPECT_EQ(tutti("help").out, tutti("-h").out);
  EXPECT_EQ(tutti("-V").out, tutti("--version").out);
  for (const std::string each : {"", "cost", "bench", "run", "sim", "verify", "topo stretch"}) {
    const std::string text = tutti("help " + each).out;
    for (const std::string noise : {"TEXT", "UINT", "INT in", "REQUIRED", "ENUM", "Excludes:"}) {
      EXPECT_EQ(text.find(noise), std::string::npos) << each << ": " << noise;
    }
  }
}

}  // namespace
}  // namespace tutti::test
