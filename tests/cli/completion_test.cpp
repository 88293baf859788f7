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
  EXPECT_EQ(candidates("explain --schedule x"), "") << "files are the shell's";
}

TEST(Completion, WorksInBash) {
  const Outcome run =
      shell("PATH=$(dirname " TUTTI_IN_SHELL
            "):$PATH bash -c 'source <(tutti completion bash); COMP_LINE=\"tutti topo sho\"; "
            "COMP_POINT=14; _tutti; echo ${COMPREPLY[@]}; "
            "COMP_LINE=\"tutti sim --topo torus:\"; COMP_POINT=23; _tutti; echo ${COMPREPLY[@]}'");
  EXPECT_EQ(run.out, "show\n4x4\n") << run.err;
  for (const std::string each : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(tutti("completion " + each).exit_code, 0);
  }
  EXPECT_EQ(tutti("completion csh").exit_code, 2);
}

/// The outcome of a script in a shell that finds the command in its path.
Outcome in_shell(const std::string& shell_command, const std::string& script) {
  return shell("PATH=$(dirname " TUTTI_IN_SHELL "):$PATH " + shell_command + " '" + script + "'");
}

bool has(const std::string& program) { return shell("command -v " + program).exit_code == 0; }

/// The builtins of an interactive zsh, as functions that print what they are given.
constexpr const char* zsh_builtins =
    "compdef() { :; }; compadd() { print -- ${(P)2}; }; _files() { print files; }; ";

TEST(Completion, WorksInZshWhenSourced) {
  if (!has("zsh")) GTEST_SKIP() << "there is no zsh";
  const Outcome run =
      in_shell("zsh -fc", std::string(zsh_builtins) +
                              "source <(tutti completion zsh); "
                              "words=(tutti topo sho); CURRENT=3; _tutti; "
                              "words=(tutti explain --schedule x); CURRENT=4; _tutti");
  EXPECT_EQ(run.out, "show\nfiles\n") << run.err;
}

TEST(Completion, WorksInZshWhenInstalled) {
  if (!has("zsh")) GTEST_SKIP() << "there is no zsh";
  const TemporaryDirectory folder;
  ASSERT_EQ(tutti("completion zsh > " + folder.path() + "/_tutti").exit_code, 0);
  const Outcome run = in_shell("zsh -fc", std::string(zsh_builtins) + "fpath=(" + folder.path() +
                                              " $fpath); autoload -U _tutti; "
                                              "words=(tutti topo sho); CURRENT=3; _tutti; _tutti");
  EXPECT_EQ(run.out, "show\nshow\n") << run.err;
}

TEST(Completion, WorksInFish) {
  if (!has("fish")) GTEST_SKIP() << "there is no fish";
  const Outcome run = in_shell("fish --no-config -c",
                               "tutti completion fish | source; complete -C \"tutti topo sho\"");
  EXPECT_EQ(run.out, "show\n") << run.err;
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
