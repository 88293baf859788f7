#include <iomanip>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/run_support.hpp"
#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/pattern.hpp"

namespace tutti::test {
namespace {

TEST(Golden, RunHelp) { expect_golden("cli/run-help.txt", tutti("run --help").out); }

TEST(RunEnvironment, SetsTheVariablesOfEachRank) {
  const Outcome run = tutti(
      "run -n 3 -x COLOUR=blue=green -- sh -c 'echo $TUTTI_RANK $TUTTI_SIZE $TUTTI_LOCAL_RANK "
      "$TUTTI_LOCAL_SIZE $COLOUR; echo $TUTTI_ROOT $TUTTI_SECRET $TUTTI_JOB; echo "
      "${TUTTI_ROOT_FD-none}'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  auto wrote = by_rank(run.out);
  ASSERT_EQ(wrote.size(), 3U);
  for (auto& [rank, text] : wrote) {
    ASSERT_EQ(text.size(), 3U);
    EXPECT_EQ(text[0], std::string(1, rank) + " 3 " + rank + " 3 blue=green");
    EXPECT_TRUE(match(text[1], "127\\.0\\.0\\.1:[0-9]+ [0-9a-f]{64} [0-9a-f]{16}"));
    EXPECT_EQ(text[1], wrote['0'][1]);
    EXPECT_EQ(text[2] == "none", rank != '0');
  }
  EXPECT_NE(wrote['0'][1], by_rank(tutti("run -n 1 -- sh -c 'echo; echo $TUTTI_ROOT "
                                         "$TUTTI_SECRET $TUTTI_JOB'")
                                       .out)['0'][1]);
}

TEST(RunEnvironment, KeepsASecretThatIsSet) {
  EXPECT_EQ(tutti("run -n 1 -x TUTTI_SECRET=mine -- sh -c 'echo $TUTTI_SECRET'").out, "[0] mine\n");
}

TEST(RunEnvironment, MakesASecretIfTheVariableIsEmpty) {
  const std::string wrote = tutti("run -n 1 -x TUTTI_SECRET= -- sh -c 'echo $TUTTI_SECRET'").out;
  EXPECT_TRUE(match(wrote, "\\[0\\] [0-9a-f]{64}\n")) << wrote;
}

TEST(RunEnvironment, HidesTheSocketOfAnOuterRun) {
  const Outcome run = tutti("run -n 1 -x TUTTI_ROOT_FD=77 -- " TUTTI_IN_SHELL
                            " run -n 2 --no-prefix -- sh -c 'echo rank $TUTTI_RANK "
                            "${TUTTI_ROOT_FD-none}'");
  EXPECT_TRUE(contains(run.out, "rank 1 none\n")) << run.out;
  EXPECT_FALSE(contains(run.out, "77")) << run.out;
}

TEST(RunEnvironment, GivesOnlyRank0TheListeningSocket) {
  const Outcome run = tutti(
      "run -n 2 -- sh -c 'echo $TUTTI_ROOT; readlink /proc/$$/fd/* | grep socket; [ $TUTTI_RANK = "
      "1 ] || { readlink /proc/$$/fd/$TUTTI_ROOT_FD; cat /proc/net/tcp; }'");
  auto wrote = by_rank(run.out);
  ASSERT_GE(wrote['0'].size(), 4U) << run.out << run.err;
  EXPECT_EQ(wrote['1'].size(), 1U) << "rank 1 holds a socket";
  const auto inode = match(wrote['0'][2], "socket:\\[([0-9]+)\\]");
  ASSERT_TRUE(inode);
  const std::string& root = wrote['0'][0];
  std::ostringstream listening;  // The line of /proc/net/tcp: 127.0.0.1:PORT, any peer, LISTEN.
  listening << "0100007F:" << std::uppercase << std::hex << std::setw(4) << std::setfill('0')
            << std::stoi(root.substr(root.find(':') + 1)) << " 00000000:0000 0A";
  bool found = false;
  for (const std::string& line : wrote['0']) {
    found = found || (contains(line, listening.str()) && contains(line, " " + inode->at(1) + " "));
  }
  EXPECT_TRUE(found) << listening.str() << " of " << inode->at(1) << "\n" << run.out;
}

TEST(RunEnvironment, GivesStandardInputToRank0Only) {
  const Outcome run = tutti("run -n 3 -- sh -c 'cat; echo end'", "one\ntwo\n");
  auto wrote = by_rank(run.out);
  EXPECT_EQ(wrote['0'], (std::vector<std::string>{"one", "two", "end"}));
  EXPECT_EQ(wrote['1'], std::vector<std::string>{"end"});
  EXPECT_EQ(wrote['2'], std::vector<std::string>{"end"});
}

TEST(RunEnvironment, RestoresSignalsAndLimits) {
  const std::string probe = "sh -c 'grep -E ^Sig.*: /proc/self/status; ulimit -n'";
  const Outcome bare = tutti("run -n 1 --no-prefix -- " + probe);
  // The values in the shell that starts the command.
  const Outcome direct = tutti("--version >/dev/null; " + probe);
  // Signals above 28 belong to the C library and differ with sanitizers.
  const auto signals = [](const std::string& text) {
    return without(text, "SigQ.*|\t[0-9a-f]{9}");
  };
  EXPECT_EQ(signals(bare.out), signals(direct.out));
}

TEST(RunEnvironment, BindsRanksToCoresRoundRobin) {
  const Outcome run = tutti("run -n 2 --bind core -- grep Cpus_allowed_list /proc/self/status");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  auto wrote = by_rank(run.out);
  const Outcome unbound = tutti("run -n 1 -- grep Cpus_allowed_list /proc/self/status");
  // With a single core both ranks get that core.
  if (wrote['0'] == wrote['1']) {
    EXPECT_EQ(wrote['0'], by_rank(unbound.out)['0']);
  }
}

}  // namespace
}  // namespace tutti::test
