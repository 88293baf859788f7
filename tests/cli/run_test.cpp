#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "cli/run_support.hpp"
#include "support/command.hpp"
#include "support/pattern.hpp"
#include "support/running_command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Exit codes ----------------------------------------------------------------------------------

TEST(RunFailure, ReturnsTheExitCodeOfTheFirstFailure) {
  EXPECT_EQ(tutti("run -n 4 -- true").exit_code, 0);
  const Outcome exited = tutti("run -n 4 -- sh -c '[ $TUTTI_RANK != 2 ] || exit 3'");
  EXPECT_EQ(exited.exit_code, 3);
  EXPECT_TRUE(search(exited.err, "^tutti run: rank 2 \\(pid [0-9]+\\) exited with code 3"))
      << exited.err;
  EXPECT_TRUE(contains(exited.err, "tutti run: of 4 ranks 1 failed, 3 succeeded\n")) << exited.err;
  const Outcome killed = tutti("run -n 1 -- sh -c 'ulimit -c 0; kill -SEGV $$'");
  EXPECT_EQ(killed.exit_code, 128 + SIGSEGV);
  EXPECT_TRUE(contains(killed.err, "was killed by SIGSEGV (segmentation fault)\n")) << killed.err;
}

TEST(RunFailure, EndsTheOthers) {
  const auto begin = Clock::now();
  const Outcome run = tutti(
      "run -n 4 --linger 0.2 -- sh -c 'echo pid $$; [ $TUTTI_RANK != 1 ] || exit 3; sleep 60; "
      "true'");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_LT(Clock::now() - begin, 8s);
  EXPECT_TRUE(contains(run.err, "the others have 0.2 s to end by themselves")) << run.err;
  EXPECT_TRUE(contains(run.err, "of 4 ranks 1 failed, 3 were ended")) << run.err;
  EXPECT_EQ(numbers_after("pid", run.out).size(), 4U);
  for (const pid_t pid : numbers_after("pid", run.out)) EXPECT_FALSE(is_alive(pid));
}

TEST(RunFailure, KeepGoingLetsTheSurvivorsDecide) {
  const Outcome run = tutti(
      "run -n 3 --keep-going --linger 0.1 -- sh -c '[ $TUTTI_RANK != 1 ] || kill -KILL $$; sleep "
      "0.6; "
      "echo survived'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "[0] survived\n") && contains(run.out, "[2] survived\n"))
      << run.out;
  EXPECT_TRUE(search(run.err, "rank 1 \\(pid [0-9]+\\) was killed by SIGKILL .*; the others go on"))
      << run.err;
  EXPECT_TRUE(contains(run.err, "of 3 ranks 1 failed, 2 succeeded\n")) << run.err;
  EXPECT_EQ(tutti("run -n 2 --keep-going -- sh -c 'sleep 0.$TUTTI_RANK; exit 3'").exit_code, 3);
}

TEST(RunFailure, ForwardsTheMessagesOfOtherRanks) {
  const Outcome run = tutti(
      "run -n 2 -- sh -c '[ $TUTTI_RANK != 1 ] || exit 3; sleep 0.3; echo lost rank 1 >&2; exit "
      "9'");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.err, "[0] lost rank 1\n")) << run.err;
  EXPECT_TRUE(contains(run.err, "of 2 ranks 2 failed\n")) << run.err;
}

TEST(RunFailure, KillsRanksThatDoNotEnd) {
  const Outcome run = tutti(
      "run -n 2 --linger 0.1 --grace 0.2 -- sh -c 'trap \"\" TERM; [ $TUTTI_RANK != 1 ] || exit 3; "
      "while :; do sleep 0.05; done'");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.err, "tutti run: killing rank 0 (pid ")) << run.err;
}

TEST(RunFailure, EndsProcessesThatARankHasStarted) {
  const auto begin = Clock::now();
  const Outcome run = tutti("run -n 2 -- sh -c 'sleep 60 & echo pid $!'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(Clock::now() - begin, 8s);
  ASSERT_EQ(numbers_after("pid", run.out).size(), 2U);
  for (const pid_t pid : numbers_after("pid", run.out)) EXPECT_FALSE(is_alive(pid));
}

TEST(RunFailure, EndsAfterTheTimeout) {
  const auto begin = Clock::now();
  const Outcome run = tutti("run -n 2 --timeout 0.3 -- sleep 60");
  EXPECT_EQ(run.exit_code, 124);
  EXPECT_LT(Clock::now() - begin, 8s);
  EXPECT_EQ(run.err, "tutti run: not done after 0.3 s; ending the ranks\n");
}

TEST(RunFailure, ReportsWhyAProgramCannotBeStarted) {
  const Outcome missing = tutti("run -n 4 -- no-such-program");
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.err, "tutti run: cannot start 'no-such-program': No such file or directory\n");
  EXPECT_EQ(tutti("run -n 4 -- ./no/such/program").exit_code, 127);
  const Outcome data = tutti("run -n 4 -- /etc/passwd");
  EXPECT_EQ(data.exit_code, 126);
  EXPECT_EQ(data.err, "tutti run: cannot start '/etc/passwd': Permission denied\n");
  const TemporaryDirectory directory;
  std::ofstream(directory.path("script")) << "#!/no/such/shell\n";
  std::filesystem::permissions(directory.path("script"), std::filesystem::perms::owner_all);
  const Outcome script = tutti("run -n 1 -- " + directory.path("script"));
  EXPECT_EQ(script.exit_code, 126);
  EXPECT_TRUE(contains(script.err, "interpreter")) << script.err;
}

// Signals -------------------------------------------------------------------------------------

TEST(RunSignals, ReachEveryRank) {
  RunningCommand command(
      run_of_shell({"-n", "3"},
                   "trap 'echo got USR1' USR1; trap 'echo got HUP' HUP; trap 'echo got "
                   "TERM; exit 7' TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready\n", 3));
  command.signal(SIGUSR1);
  EXPECT_TRUE(command.await("got USR1\n", 3)) << command.output();
  command.signal(SIGHUP);
  EXPECT_TRUE(command.await("got HUP\n", 3)) << command.output();
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 7);
  EXPECT_TRUE(command.await("got TERM\n", 3)) << command.output();
}

TEST(RunSignals, ReachProcessesThatRanksHaveStarted) {
  RunningCommand command(
      run_of_shell({"-n", "2"}, "sh -c 'echo inner $$; exec sleep 60'; echo over; exit 0"));
  ASSERT_TRUE(command.await("inner", 2));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
  for (const pid_t pid : numbers_after("inner", command.output())) EXPECT_FALSE(is_alive(pid));
}

TEST(RunSignals, ExitWithZeroIfTheRanksDo) {
  RunningCommand command(
      run_of_shell({"-n", "2"}, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready", 2));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 0);
}

TEST(RunSignals, KillAtTheSecondInterrupt) {
  RunningCommand command(run_of_shell(
      {"-n", "2"}, "trap 'echo no' INT TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready", 2));
  command.signal(SIGINT);
  ASSERT_TRUE(command.await("no\n", 2)) << command.output();
  const auto begin = Clock::now();
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 128 + SIGINT);
  EXPECT_LT(Clock::now() - begin, 3s);
}

TEST(RunSignals, KillAfterTheGracePeriod) {
  RunningCommand command(run_of_shell({"-n", "2", "--grace", "0.2"},
                                      "trap '' TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready", 2));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
}

/// The helper process that ends the ranks if the launcher is killed.
pid_t guard_of(pid_t launcher) {
  const std::string name = std::to_string(launcher);
  std::ifstream children("/proc/" + name + "/task/" + name + "/children");
  for (pid_t each = 0; children >> each;) {
    std::string command;
    std::getline(std::ifstream("/proc/" + std::to_string(each) + "/comm"), command);
    if (command == "tutti-guard") return each;
  }
  return -1;
}

TEST(RunSignals, EndAllRanksWhenTheLauncherIsKilled) {
  RunningCommand command(run_of_shell({"-n", "3"}, "echo pid $$; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("\n", 3));
  const std::vector<pid_t> pids = numbers_after("pid", command.output());
  ASSERT_EQ(pids.size(), 3U);
  for (const pid_t pid : pids) EXPECT_TRUE(is_alive(pid));
  pid_t guard = -1;
  for (int i = 0; i < 1000 && guard < 0; ++i) {  // It sets its name a moment after it starts.
    guard = guard_of(command.pid());
    if (guard < 0) std::this_thread::sleep_for(10ms);
  }
  ASSERT_GT(guard, 0);
  ::kill(guard, SIGKILL);
  ASSERT_TRUE(dies(guard));
  command.signal(SIGKILL);
  EXPECT_EQ(command.wait(false), -1);
  for (const pid_t pid : pids) EXPECT_TRUE(dies(pid)) << pid;
}

TEST(RunSignals, EndProcessesOfRanksWhenTheLauncherIsKilled) {
  RunningCommand command(run_of_shell({"-n", "2"}, "sh -c 'echo inner $$; sleep 60; true'; true"));
  ASSERT_TRUE(command.await("\n", 2));
  const std::vector<pid_t> pids = numbers_after("inner", command.output());
  ASSERT_EQ(pids.size(), 2U);
  for (const pid_t pid : pids) EXPECT_TRUE(is_alive(pid));
  command.signal(SIGKILL);
  EXPECT_EQ(command.wait(false), -1);
  for (const pid_t pid : pids) EXPECT_TRUE(dies(pid)) << pid;
}

bool is_stopped(pid_t pid) {
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(pid) + "/stat").rdbuf();
  return contains(text.str(), ") T ");
}

/// Waits until all processes are stopped, or none.
bool become_stopped(const std::vector<pid_t>& pids, bool stopped) {
  const auto deadline = Clock::now() + 10s;
  while (Clock::now() < deadline) {
    if (std::all_of(pids.begin(), pids.end(), [&](pid_t p) { return is_stopped(p) == stopped; })) {
      return true;
    }
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

TEST(RunSignals, StopAndContinueTheRanks) {
  RunningCommand command(run_of_shell({"-n", "2"}, "echo pid $$; exec sleep 60"));
  ASSERT_TRUE(command.await("\n", 2));
  const std::vector<pid_t> pids = numbers_after("pid", command.output());
  command.signal(SIGTSTP);
  EXPECT_TRUE(become_stopped(pids, true));
  command.signal(SIGCONT);
  EXPECT_TRUE(become_stopped(pids, false));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
}

// Terminals -----------------------------------------------------------------------------------

constexpr auto terminal = RunningCommand::Through::terminal;

TEST(RunTerminal, IsReadByRank0) {
  RunningCommand command(
      run_of_shell({"-n", "2"}, "[ $TUTTI_RANK = 1 ] || echo ready; cat; echo end"), terminal);
  ASSERT_TRUE(command.await("ready"));
  command.type("hello\n");
  EXPECT_TRUE(command.await("[0]\033[0m hello")) << command.output();
  command.type("\x04");
  EXPECT_EQ(command.wait(), 0);
  EXPECT_TRUE(contains(command.output(), "[0]\033[0m end")) << command.output();
}

TEST(RunTerminal, InterruptsTheRanks) {
  RunningCommand command(run_of_shell({"-n", "2"}, "echo ready; sleep 60; true"), terminal);
  ASSERT_TRUE(command.await("ready", 2));
  command.type("\x03");
  EXPECT_EQ(command.wait(), 128 + SIGINT);
  EXPECT_TRUE(contains(command.output(), "tutti run: ended by SIGINT")) << command.output();
}

TEST(RunTerminal, ColoursThePrefixUnlessNoColorIsSet) {
  RunningCommand coloured({"run", "-n", "2", "--", "echo", "hi"}, terminal);
  EXPECT_EQ(coloured.wait(), 0);
  EXPECT_TRUE(contains(coloured.output(), "\033[36m[0]\033[0m hi")) << coloured.output();
  EXPECT_TRUE(contains(coloured.output(), "\033[33m[1]\033[0m hi")) << coloured.output();
  ::setenv("NO_COLOR", "1", 1);
  RunningCommand plain({"run", "-n", "2", "--", "echo", "hi"}, terminal);
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(plain.wait(), 0);
  EXPECT_FALSE(contains(plain.output(), "\033")) << plain.output();
}

// Many ranks ----------------------------------------------------------------------------------

TEST(RunMany, RaisesTheLimitOfOpenFiles) {
  const Outcome run = tutti("--version >/dev/null; ulimit -Sn 100; " TUTTI_IN_SHELL
                            " run -n 100 --no-prefix -- sh -c 'ulimit -n'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines(run.out), std::vector<std::string>(100, "100")) << "and gives it back";
  const Outcome hard =
      tutti("--version >/dev/null; ulimit -n 100; " TUTTI_IN_SHELL " run -n 100 -- true");
  EXPECT_EQ(hard.exit_code, 2);
  EXPECT_TRUE(contains(hard.err, "100 ranks need 264 open files")) << hard.err;
}

}  // namespace
}  // namespace tutti::test
