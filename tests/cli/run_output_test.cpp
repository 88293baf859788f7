#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "cli/run_support.hpp"
#include "support/command.hpp"
#include "support/running_command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(RunOutput, KeepsAllLinesWhole) {
  constexpr std::size_t count = 20000;
  RunningCommand run(run_of_shell({"-n", "4"},
                                  "seq -f \"rank $TUTTI_RANK counts %.0f\" 20000 & seq -f \"rank "
                                  "$TUTTI_RANK moans %.0f\" 20000 >&2; wait"));
  EXPECT_EQ(run.wait(), 0);
  auto wrote = by_rank(run.output());
  ASSERT_EQ(wrote.size(), 4U);
  for (const auto& [rank, text] : wrote) {
    ASSERT_EQ(text.size(), 2 * count) << rank;
    std::size_t counts = 0;
    std::size_t moans = 0;
    for (const std::string& line : text) {
      const std::string begin = std::string("rank ") + rank;
      const std::string expected = contains(line, "counts")
                                       ? begin + " counts " + std::to_string(++counts)
                                       : begin + " moans " + std::to_string(++moans);
      ASSERT_EQ(line, expected);
    }
    EXPECT_EQ(counts, count);
  }
}

TEST(RunOutput, KeepsStandardErrorSeparate) {
  const Outcome run = tutti("run -n 2 -- sh -c 'echo good; echo bad >&2'");
  EXPECT_EQ(run.out.size(), std::string("[0] good\n[1] good\n").size()) << run.out;
  EXPECT_FALSE(contains(run.out, "bad"));
  EXPECT_FALSE(contains(run.err, "good"));
  EXPECT_TRUE(contains(run.err, "[1] bad\n")) << run.err;
}

TEST(RunOutput, PadsThePrefix) {
  const Outcome run = tutti("run -n 11 -- sh -c 'echo $TUTTI_RANK'");
  EXPECT_TRUE(contains(run.out, "[ 3] 3\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "[10] 10\n")) << run.out;
  EXPECT_EQ(tutti("run -n 1 --no-prefix -- echo plain").out, "plain\n");
}

TEST(RunOutput, EndsTheLastLine) {
  EXPECT_EQ(tutti("run -n 1 -- printf 'a\\nb'").out, "[0] a\n[0] b\n");
}

TEST(RunOutput, ForwardsEveryByte) {
  const Outcome run = tutti("run -n 1 --no-prefix -- printf '\\000\\001\\377\\r\\n\\n\\200'");
  EXPECT_EQ(run.out, std::string("\0\1\377\r\n\n\200\n", 8));
}

TEST(RunOutput, KeepsLinesOfMegabytesWhole) {
  const Outcome run = tutti(
      "run -n 3 -- sh -c 'head -c 3000000 /dev/zero | tr \"\\\\0\" $TUTTI_RANK; echo; echo after'");
  auto wrote = by_rank(run.out);
  ASSERT_EQ(wrote.size(), 3U);
  for (const auto& [rank, text] : wrote) {
    ASSERT_EQ(text.size(), 2U) << rank;
    EXPECT_TRUE(text[0] == std::string(3000000, rank)) << rank << ": " << text[0].size();
    EXPECT_EQ(text[1], "after");
  }
}

TEST(RunOutput, SplitsALongLineThatPauses) {
  // Rank 0 pauses within a long line until rank 1 has written more than a pipe holds.
  const TemporaryDirectory directory;
  const Outcome run = tutti(
      "run -n 2 --timeout 20 -- sh -c 'if [ $TUTTI_RANK = 0 ]; then head -c "
      "100000 /dev/zero | tr \"\\\\0\" x; while [ ! -e " +
      directory.path("done") +
      " ]; do sleep 0.02; done; echo y; else sleep 0.2; seq 50000; touch " +
      directory.path("done") + "; fi'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  auto wrote = by_rank(run.out);
  EXPECT_EQ(wrote['1'].size(), 50000U);
  EXPECT_EQ(wrote['0'], (std::vector<std::string>{std::string(100000, 'x'), "y"}));
}

TEST(RunOutput, IsCopiedToFiles) {
  const TemporaryDirectory directory;
  const Outcome run = tutti("run -n 2 --output " + directory.path("a/b") +
                            " -- sh -c 'printf \"out $TUTTI_RANK\"; echo err >&2'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(directory.read("a/b/rank-0.out"), "out 0");
  EXPECT_EQ(directory.read("a/b/rank-1.out"), "out 1");
  EXPECT_EQ(directory.read("a/b/rank-1.err"), "err\n");
  EXPECT_TRUE(contains(run.out, "[1] out 1\n"));
}

TEST(RunOutput, EndsTheJobWithoutAMessageWhenClosed) {
  RunningCommand command({"run", "-n", "2", "--", "yes"});
  ASSERT_TRUE(command.await("[1] y"));
  command.close_output();
  EXPECT_EQ(command.wait(), 128 + SIGPIPE);
}

TEST(RunOutput, LauncherEndsEvenIfTheReaderSleeps) {
  RunningCommand command({"run", "-n", "2", "--grace", "0.2", "--", "yes"});
  ASSERT_TRUE(command.await("[1] y"));
  std::this_thread::sleep_for(100ms);  // All pipes are full by now.
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(false), 128 + SIGTERM);
}

}  // namespace
}  // namespace tutti::test
