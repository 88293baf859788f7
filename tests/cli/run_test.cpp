#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/running_command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

/// What each of up to ten ranks wrote.
std::map<char, std::vector<std::string>> by_rank(const std::string& text) {
  std::map<char, std::vector<std::string>> found;
  for (const std::string& line : lines(text)) {
    const bool prefixed = line.size() >= 4 && line[0] == '[' && line.compare(2, 2, "] ") == 0;
    EXPECT_TRUE(prefixed) << line.substr(0, 200);
    if (prefixed) found[line[1]].push_back(line.substr(4));
  }
  return found;
}

std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"--", "sh", "-c", script});
  return options;
}

/// The numbers that ranks have written on lines that begin with `word`.
std::vector<pid_t> numbers_after(const std::string& word, const std::string& text) {
  std::vector<pid_t> found;
  const std::regex pattern(word + " ([0-9]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.push_back(std::stoi((*at)[1]));
  }
  return found;
}

// Environment ---------------------------------------------------------------------------------

TEST(Golden, RunHelp) { expect_golden("cli/run-help.txt", tutti("run --help").out); }

TEST(RunEnvironment, TellsEachRankWhoItIs) {
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
    EXPECT_TRUE(
        std::regex_match(text[1], std::regex("127\\.0\\.0\\.1:[0-9]+ [0-9a-f]{64} [0-9a-f]{16}")));
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

TEST(RunEnvironment, MakesASecretWhereItIsSetToNothing) {
  const std::string wrote = tutti("run -n 1 -x TUTTI_SECRET= -- sh -c 'echo $TUTTI_SECRET'").out;
  EXPECT_TRUE(std::regex_match(wrote, std::regex("\\[0\\] [0-9a-f]{64}\n"))) << wrote;
}

TEST(RunEnvironment, HidesTheSocketOfAnOuterRun) {
  const Outcome run = tutti("run -n 1 -x TUTTI_ROOT_FD=77 -- " TUTTI_COMMAND
                            " run -n 2 --no-prefix -- sh -c 'echo rank $TUTTI_RANK "
                            "${TUTTI_ROOT_FD-none}'");
  EXPECT_TRUE(contains(run.out, "rank 1 none\n")) << run.out;
  EXPECT_FALSE(contains(run.out, "77")) << run.out;
}

TEST(RunEnvironment, GivesRank0AloneASocketThatListensWhereTheRootIs) {
  const Outcome run = tutti(
      "run -n 2 -- sh -c 'echo $TUTTI_ROOT; readlink /proc/$$/fd/* | grep socket; [ $TUTTI_RANK = "
      "1 ] || { readlink /proc/$$/fd/$TUTTI_ROOT_FD; cat /proc/net/tcp; }'");
  auto wrote = by_rank(run.out);
  ASSERT_GE(wrote['0'].size(), 4U) << run.out << run.err;
  EXPECT_EQ(wrote['1'].size(), 1U) << "rank 1 holds a socket";
  std::smatch inode;
  ASSERT_TRUE(std::regex_match(wrote['0'][2], inode, std::regex("socket:\\[([0-9]+)\\]")));
  const std::string& root = wrote['0'][0];
  std::ostringstream listening;  // As the kernel writes 127.0.0.1:PORT, any peer, LISTEN.
  listening << "0100007F:" << std::uppercase << std::hex << std::setw(4) << std::setfill('0')
            << std::stoi(root.substr(root.find(':') + 1)) << " 00000000:0000 0A";
  bool found = false;
  for (const std::string& line : wrote['0']) {
    found = found || (contains(line, listening.str()) && contains(line, " " + inode.str(1) + " "));
  }
  EXPECT_TRUE(found) << listening.str() << " of " << inode.str(1) << "\n" << run.out;
}

TEST(RunEnvironment, GivesStandardInputToRank0Only) {
  const Outcome run = tutti("run -n 3 -- sh -c 'cat; echo end'", "one\ntwo\n");
  auto wrote = by_rank(run.out);
  EXPECT_EQ(wrote['0'], (std::vector<std::string>{"one", "two", "end"}));
  EXPECT_EQ(wrote['1'], std::vector<std::string>{"end"});
  EXPECT_EQ(wrote['2'], std::vector<std::string>{"end"});
}

TEST(RunEnvironment, LeavesSignalsAndLimitsAsTheyWere) {
  const std::string probe = "sh -c 'grep -E ^Sig.*: /proc/self/status; ulimit -n'";
  const Outcome bare = tutti("run -n 1 --no-prefix -- " + probe);
  // As the shell that starts the command sees them.
  const Outcome direct = tutti("--version >/dev/null; " + probe);
  // Without those above 28, which are the C library's own and change with sanitizers.
  const auto signals = [](const std::string& text) {
    return std::regex_replace(text, std::regex("SigQ.*|\t[0-9a-f]{9}"), "");
  };
  EXPECT_EQ(signals(bare.out), signals(direct.out));
}

TEST(RunEnvironment, BindsRanksToCoresInTurn) {
  const Outcome run = tutti("run -n 2 --bind core -- grep Cpus_allowed_list /proc/self/status");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  auto wrote = by_rank(run.out);
  const Outcome unbound = tutti("run -n 1 -- grep Cpus_allowed_list /proc/self/status");
  // With a single core both ranks get it, and that is all there is.
  if (wrote['0'] == wrote['1']) {
    EXPECT_EQ(wrote['0'], by_rank(unbound.out)['0']);
  }
}

// Output --------------------------------------------------------------------------------------

TEST(RunOutput, TearsNoLineAndLosesNone) {
  constexpr std::size_t count = 20000;
  RunningCommand run(shell({"-n", "4"},
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

TEST(RunOutput, KeepsStandardErrorApart) {
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

TEST(RunOutput, PassesEveryByteOn) {
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

TEST(RunOutput, IsNotHeldUpByAnEndlessLineThatPauses) {
  // Rank 0 stops in the middle of a long line until rank 1 has written more than pipes hold.
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

TEST(RunOutput, EndsTheJobQuietlyWhenNobodyReads) {
  RunningCommand command({"run", "-n", "2", "--", "yes"});
  ASSERT_TRUE(command.await("[1] y"));
  command.close_output();
  EXPECT_EQ(command.wait(), 128 + SIGPIPE);
}

TEST(RunOutput, DoesNotKeepTheLauncherFromEndingWhenTheReaderSleeps) {
  RunningCommand command({"run", "-n", "2", "--grace", "0.2", "--", "yes"});
  ASSERT_TRUE(command.await("[1] y"));
  std::this_thread::sleep_for(100ms);  // By now all pipes are full.
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(false), 128 + SIGTERM);
}

// Exit codes ----------------------------------------------------------------------------------

TEST(RunFailure, ExitsAsTheRankThatFailedFirst) {
  EXPECT_EQ(tutti("run -n 4 -- true").exit_code, 0);
  const Outcome exited = tutti("run -n 4 -- sh -c '[ $TUTTI_RANK != 2 ] || exit 3'");
  EXPECT_EQ(exited.exit_code, 3);
  EXPECT_TRUE(std::regex_search(
      exited.err, std::regex("^tutti run: rank 2 \\(pid [0-9]+\\) exited with code 3")))
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

TEST(RunFailure, LetsTheOthersSayWhatTheyKnow) {
  const Outcome run = tutti(
      "run -n 2 -- sh -c '[ $TUTTI_RANK != 1 ] || exit 3; sleep 0.3; echo lost rank 1 >&2; exit "
      "9'");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.err, "[0] lost rank 1\n")) << run.err;
  EXPECT_TRUE(contains(run.err, "of 2 ranks 2 failed\n")) << run.err;
}

TEST(RunFailure, KillsThoseThatDoNotEnd) {
  const Outcome run = tutti(
      "run -n 2 --linger 0.1 --grace 0.2 -- sh -c 'trap \"\" TERM; [ $TUTTI_RANK != 1 ] || exit 3; "
      "while :; do sleep 0.05; done'");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.err, "tutti run: killing rank 0 (pid ")) << run.err;
}

TEST(RunFailure, LeavesNothingBehindThatARankHasStarted) {
  const auto begin = Clock::now();
  const Outcome run = tutti("run -n 2 -- sh -c 'sleep 60 & echo pid $!'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(Clock::now() - begin, 8s);
  ASSERT_EQ(numbers_after("pid", run.out).size(), 2U);
  for (const pid_t pid : numbers_after("pid", run.out)) EXPECT_FALSE(is_alive(pid));
}

TEST(RunFailure, EndsWhenTimeIsUp) {
  const auto begin = Clock::now();
  const Outcome run = tutti("run -n 2 --timeout 0.3 -- sleep 60");
  EXPECT_EQ(run.exit_code, 124);
  EXPECT_LT(Clock::now() - begin, 8s);
  EXPECT_EQ(run.err, "tutti run: not done after 0.3 s; ending the ranks\n");
}

TEST(RunFailure, SaysWhyAProgramCannotBeStarted) {
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
  RunningCommand command(shell({"-n", "3"},
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

TEST(RunSignals, ReachWhatTheRanksHaveStarted) {
  RunningCommand command(
      shell({"-n", "2"}, "sh -c 'echo inner $$; exec sleep 60'; echo over; exit 0"));
  ASSERT_TRUE(command.await("inner", 2));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
  for (const pid_t pid : numbers_after("inner", command.output())) EXPECT_FALSE(is_alive(pid));
}

TEST(RunSignals, EndTheJobWellIfTheRanksDo) {
  RunningCommand command(
      shell({"-n", "2"}, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready", 2));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 0);
}

TEST(RunSignals, KillAtTheSecondInterrupt) {
  RunningCommand command(
      shell({"-n", "2"}, "trap 'echo no' INT TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready", 2));
  command.signal(SIGINT);
  ASSERT_TRUE(command.await("no\n", 2)) << command.output();
  const auto begin = Clock::now();
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 128 + SIGINT);
  EXPECT_LT(Clock::now() - begin, 3s);
}

TEST(RunSignals, KillAfterTheGrace) {
  RunningCommand command(shell({"-n", "2", "--grace", "0.2"},
                               "trap '' TERM; echo ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("ready", 2));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
}

/// The process that ends what ranks have started if the launcher cannot.
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

TEST(RunSignals, LeaveNoRankAliveWhenTheLauncherIsKilled) {
  RunningCommand command(shell({"-n", "3"}, "echo pid $$; while :; do sleep 0.02; done"));
  ASSERT_TRUE(command.await("\n", 3));
  const std::vector<pid_t> pids = numbers_after("pid", command.output());
  ASSERT_EQ(pids.size(), 3U);
  for (const pid_t pid : pids) EXPECT_TRUE(is_alive(pid));
  pid_t guard = -1;
  for (int i = 0; i < 1000 && guard < 0; ++i) {  // It takes a moment to give itself its name.
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

TEST(RunSignals, LeaveNothingOfWhatRanksHaveStartedWhenTheLauncherIsKilled) {
  RunningCommand command(shell({"-n", "2"}, "sh -c 'echo inner $$; sleep 60; true'; true"));
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

/// Waits until all of them are stopped, or none is.
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
  RunningCommand command(shell({"-n", "2"}, "echo pid $$; exec sleep 60"));
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
  RunningCommand command(shell({"-n", "2"}, "[ $TUTTI_RANK = 1 ] || echo ready; cat; echo end"),
                         terminal);
  ASSERT_TRUE(command.await("ready"));
  command.type("hello\n");
  EXPECT_TRUE(command.await("[0]\033[0m hello")) << command.output();
  command.type("\x04");
  EXPECT_EQ(command.wait(), 0);
  EXPECT_TRUE(contains(command.output(), "[0]\033[0m end")) << command.output();
}

TEST(RunTerminal, InterruptsTheRanks) {
  RunningCommand command(shell({"-n", "2"}, "echo ready; sleep 60; true"), terminal);
  ASSERT_TRUE(command.await("ready", 2));
  command.type("\x03");
  EXPECT_EQ(command.wait(), 128 + SIGINT);
  EXPECT_TRUE(contains(command.output(), "tutti run: ended by SIGINT")) << command.output();
}

TEST(RunTerminal, ColoursTheRanksUnlessTold) {
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

TEST(RunMany, StartsMoreRanksThanTheLimitOfFilesSeemsToAllow) {
  const Outcome run = tutti("--version >/dev/null; ulimit -Sn 100; " TUTTI_COMMAND
                            " run -n 100 --no-prefix -- sh -c 'ulimit -n'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines(run.out), std::vector<std::string>(100, "100")) << "and gives it back";
  const Outcome hard =
      tutti("--version >/dev/null; ulimit -n 100; " TUTTI_COMMAND " run -n 100 -- true");
  EXPECT_EQ(hard.exit_code, 2);
  EXPECT_TRUE(contains(hard.err, "100 ranks need 264 open files")) << hard.err;
}

}  // namespace
}  // namespace tutti::test
