#include "flight/signals.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "flight/black_box.hpp"
#include "flight/dump_file.hpp"
#include "flight/registry.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

/// The exit status of a child, and its dumps in the order of their names.
struct Left {
  int status = 0;
  std::vector<FlightDump> dumps;
};

Left left_by(const std::function<void(const FlightSettings&)>& work) {
  const TemporaryDirectory folder;
  const pid_t child = fork();
  if (child == 0) {
    // A time limit, in case the child hangs.
    alarm(20);
    work({.records = 16, .directory = folder.path()});
    _exit(0);
  }
  Left left;
  waitpid(child, &left.status, 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    left.dumps.push_back(parse_dump(folder.read(name), name));
    EXPECT_EQ(name, "flight-" + std::to_string(child) + "-00000000000000ab-" +
                        std::to_string(left.dumps.back().rank) + ".jsonl");
  }
  return left;
}

FlightOwner owner(std::uint32_t rank) {
  return {.communicator = 0xAB, .name = "world", .self = rank, .ranks = 2};
}

void begin_some(BlackBox& box) {
  box.recorder().begin(1, {.algorithm = "barrier/dissemination"});
  box.recorder().end();
  box.recorder().begin(2, {.algorithm = "barrier/dissemination"}, "here");
}

void expect_dump(const FlightDump& dump, const std::string& reason) {
  EXPECT_EQ(dump.reason, reason);
  EXPECT_TRUE(dump.faults.empty());
  ASSERT_EQ(dump.records.size(), 2U);
  EXPECT_EQ(words(dump.records.back()), "call 2, barrier (barrier/dissemination), at 'here'");
  EXPECT_EQ(dump.records.back().state, FlightRecord::State::running);
}

TEST(Signals, DumpBeforeTheProcessEnds) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGTERM}) {
    const Left left = left_by([&](const FlightSettings& settings) {
      // Remove a sanitizer's handler.
      ::signal(number, SIG_DFL);
      BlackBox one(owner(0), settings);
      BlackBox other(owner(1), settings);
      begin_some(one);
      begin_some(other);
      raise(number);
    });
    EXPECT_TRUE(WIFSIGNALED(left.status)) << number;
    EXPECT_EQ(WTERMSIG(left.status), number);
    ASSERT_EQ(left.dumps.size(), 2U);
    expect_dump(left.dumps[0], "SIG" + std::string(sigabbrev_np(number)));
    expect_dump(left.dumps[1], "SIG" + std::string(sigabbrev_np(number)));
  }
}

TEST(Signals, DumpOnMemoryFault) {
  const Left left = left_by([](const FlightSettings& settings) {
    ::signal(SIGFPE, SIG_DFL);
    ::signal(SIGSEGV, SIG_DFL);
    BlackBox box(owner(0), settings);
    begin_some(box);
    // The first page is not writable.
    int* volatile nowhere = reinterpret_cast<int*>(8);  // NOLINT(performance-no-int-to-ptr)
    *nowhere = 1;
  });
  EXPECT_TRUE(WIFSIGNALED(left.status));
  EXPECT_EQ(WTERMSIG(left.status), SIGSEGV);
  ASSERT_EQ(left.dumps.size(), 1U);
  expect_dump(left.dumps[0], "SIGSEGV");
}

TEST(Signals, Usr2DumpsAndContinues) {
  const Left left = left_by([](const FlightSettings& settings) {
    BlackBox box(owner(0), settings);
    box.recorder().begin(1, {});
    raise(SIGUSR2);
    box.recorder().end();
    box.recorder().begin(2, {.algorithm = "barrier/dissemination"}, "here");
    raise(SIGUSR2);
  });
  EXPECT_EQ(left.status, 0);
  ASSERT_EQ(left.dumps.size(), 1U);
  expect_dump(left.dumps[0], "SIGUSR2");
}

TEST(Signals, KeepTheProgramsOwnHandlers) {
  static volatile sig_atomic_t usr2 = 0;
  static volatile sig_atomic_t term = 0;
  const Left left = left_by([](const FlightSettings& settings) {
    ::signal(SIGUSR2, [](int) { usr2 = 1; });
    ::signal(SIGTERM, [](int) { term = term + 1; });
    BlackBox box(owner(0), settings);
    raise(SIGUSR2);
    if (usr2 != 1 || !std::filesystem::is_empty(settings.directory)) _exit(1);
    // The program's own handler runs after the dump, every time.
    begin_some(box);
    raise(SIGTERM);
    raise(SIGTERM);
    if (term != 2) _exit(2);
  });
  EXPECT_EQ(left.status, 0);
  ASSERT_EQ(left.dumps.size(), 1U);
  expect_dump(left.dumps[0], "SIGTERM");
}

TEST(Signals, AreNotHandledWithoutADirectory) {
  const Left left = left_by([](const FlightSettings&) {
    const BlackBox box(owner(0), {});
    struct sigaction action {};
    sigaction(SIGUSR2, nullptr, &action);
    if (action.sa_handler != SIG_DFL) _exit(1);
  });
  EXPECT_EQ(left.status, 0);
  EXPECT_TRUE(left.dumps.empty());
}

TEST(BlackBox, LaterDumpsKeepTheFailure) {
  const Left left = left_by([](const FlightSettings& settings) {
    BlackBox box(owner(0), settings);
    begin_some(box);
    box.fail_call("rank 1 is gone");
    raise(SIGUSR2);
  });
  EXPECT_EQ(left.status, 0);
  ASSERT_EQ(left.dumps.size(), 1U);
  EXPECT_EQ(left.dumps[0].reason, "SIGUSR2");
  EXPECT_EQ(left.dumps[0].failure, "rank 1 is gone");
  EXPECT_EQ(left.dumps[0].records.back().state, FlightRecord::State::failed);
}

TEST(BlackBox, IsNotDumpedAfterItsDestruction) {
  const Left left = left_by([](const FlightSettings& settings) {
    { const BlackBox box(owner(0), settings); }
    raise(SIGUSR2);
  });
  EXPECT_EQ(left.status, 0);
  EXPECT_TRUE(left.dumps.empty());
}

void fail_in_missing_directory() {
  BlackBox box(owner(1), {.directory = "/proc/nowhere"});
  box.recorder().begin(1, {});
  box.fail_call("rank 0 is gone");
  _exit(0);
}

TEST(BlackBoxDeathTest, ReportsThatItCannotDump) {
  EXPECT_EXIT(fail_in_missing_directory(), testing::ExitedWithCode(0),
              "tutti: rank 1: cannot dump the last calls to /proc/nowhere: No such file or "
              "directory");
}

// After remove() has returned, no visitor accesses the object.
TEST(Registry, RemoveWaitsForVisitors) {
  struct Thing {
    std::atomic<int> alive{1};
  };
  static constinit Registry<Thing> registry;
  std::atomic<bool> is_over{false};
  std::thread visitor([&] {
    while (!is_over) {
      registry.visit_all([](const Thing& thing) { EXPECT_EQ(thing.alive, 1); });
    }
  });
  for (int i = 0; i < 300; ++i) {
    Thing thing;
    ASSERT_TRUE(registry.add(thing));
    std::this_thread::yield();
    registry.remove(thing);
    thing.alive = 0;
  }
  is_over = true;
  visitor.join();
}

}  // namespace
}  // namespace tutti::test
