#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "cli/launch/process_family.hpp"
#include "support/running_command.hpp"
#include "support/temporary_directory.hpp"
#include "support/variable.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

bool is_empty(const std::string& directory) { return std::filesystem::is_empty(directory); }

/// Waits until the condition holds, at most ten seconds.
template <class Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  return condition();
}

class TuneInterrupted : public ::testing::TestWithParam<const char*> {};

/// Neither files nor processes.
TEST_P(TuneInterrupted, LeavesNothingBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryDirectory directory;
    const TemporaryDirectory files;
    const Variable place("TMPDIR", files.path());
    RunningCommand run({"tune", "-n", "2", "--transport", GetParam(), "--time", "60", "-o",
                        directory.path("profile.json")});
    ASSERT_TRUE(soon([&] { return cli::process_family(run.pid()).size() > 1; }));
    std::this_thread::sleep_for(100ms);  // Later than the start of the first process.
    const std::vector<cli::FamilyMember> family = cli::process_family(run.pid());
    EXPECT_GE(family.size(), 2U);
    run.signal(signal);
    EXPECT_EQ(run.wait(), 128 + signal) << run.output();
    EXPECT_TRUE(is_empty(files.path())) << signal;
    EXPECT_TRUE(is_empty(directory.path())) << signal;
    for (const cli::FamilyMember& each : family) EXPECT_TRUE(dies(each.pid)) << signal;
  }
}

/// A killed command cannot remove files, so it has none, and its processes must end.
TEST_P(TuneInterrupted, LeavesNothingBehindIfKilled) {
  const TemporaryDirectory directory;
  const TemporaryDirectory files;
  const Variable place("TMPDIR", files.path());
  RunningCommand run({"tune", "-n", "2", "--transport", GetParam(), "--time", "60", "-o",
                      directory.path("profile.json")});
  ASSERT_TRUE(soon([&] { return cli::process_family(run.pid()).size() > 1; }));
  std::this_thread::sleep_for(100ms);
  const std::vector<cli::FamilyMember> family = cli::process_family(run.pid());
  run.signal(SIGKILL);
  EXPECT_EQ(run.wait(), -1);
  for (const cli::FamilyMember& each : family) EXPECT_TRUE(dies(each.pid));
  EXPECT_TRUE(is_empty(files.path()));
  EXPECT_TRUE(is_empty(directory.path()));
}

INSTANTIATE_TEST_SUITE_P(Ways, TuneInterrupted, ::testing::Values("inproc", "shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tutti::test
