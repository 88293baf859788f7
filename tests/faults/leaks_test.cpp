#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "faults/case_run.hpp"
#include "faults/footprint.hpp"
#include "support/processes.hpp"

/// Groups leave nothing behind, however many are made and however they end.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// The resources of this rank that have grown during many repeats of `repeat`, after a warm-up.
std::string growth_over(std::uint32_t times, Communicator& communicator,
                        const std::function<void()>& repeat) {
  const auto settled = [&] {
    // Other ranks may still be closing their resources.
    communicator.barrier();
    std::this_thread::sleep_for(100ms);
    const Footprint now = Footprint::own();
    communicator.barrier();
    return now;
  };
  for (std::uint32_t i = 0; i < times / 10 + 10; ++i) repeat();
  const Footprint before = settled();
  for (std::uint32_t i = 0; i < times; ++i) repeat();
  return settled().growth_since(before);
}

std::string shrink_often(std::uint32_t times, Communicator& communicator) {
  Communicator own = communicator.duplicate();
  return growth_over(times, communicator, [&] {
    own.abort("it is to shrink");
    Regrouped shrunk = own.shrink();
    own = std::move(*shrunk.communicator);
    own.barrier();
    communicator.barrier();  // No rank is still in the other barrier when the next one aborts.
  });
}

void shrink_in_threads(std::uint32_t times) {
  run_threads(
      3, [&](Communicator& communicator) { EXPECT_EQ(shrink_often(times, communicator), ""); });
}

void shrink_in_processes(std::uint32_t times, Way way) {
  EXPECT_EQ(
      run_processes(3, way,
                    [&](Communicator& communicator) { return shrink_often(times, communicator); }),
      "");
}

void duplicate_often(std::uint32_t times) {
  run_threads(2, [&](Communicator& communicator) {
    EXPECT_EQ(growth_over(times, communicator,
                          [&] {
                            Communicator again = communicator.duplicate();
                            again.barrier();
                          }),
              "");
  });
}

void start_threads_often(std::uint32_t times) {
  const auto repeat = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      run_threads(2, [](Communicator& communicator) { communicator.barrier(); });
    }
  };
  repeat(times / 10 + 10);
  const Footprint before = Footprint::own();
  repeat(times);
  EXPECT_EQ(Footprint::own().growth_since(before), "");
}

TEST(Leaks, NoneFromShrinkingThreads) { shrink_in_threads(60); }
TEST(Leaks, NoneFromShrinkingProcesses) {
  shrink_in_processes(30, Way::memory);
  shrink_in_processes(30, Way::tcp);
}
TEST(Leaks, NoneFromDuplicates) { duplicate_often(200); }
TEST(Leaks, NoneFromThreads) { start_threads_often(200); }

TEST(SlowLeaks, NoneFromShrinkingThreads) { shrink_in_threads(1000); }
TEST(SlowLeaks, NoneFromShrinkingProcesses) {
  shrink_in_processes(1000, Way::memory);
  shrink_in_processes(1000, Way::tcp);
}
TEST(SlowLeaks, NoneFromDuplicates) { duplicate_often(10000); }
TEST(SlowLeaks, NoneFromThreads) { start_threads_often(10000); }

/// Other processes of this machine may create and remove such names, too.
bool is_left_for_long(const std::string& name) {
  for (int i = 0; i < 50; ++i) {
    if (!left_behind().contains(name)) return false;
    std::this_thread::sleep_for(100ms);
  }
  return true;
}

TEST(Leaks, KilledRanksLeaveNothing) {
  const std::set<std::string> before = left_behind();
  Meeting meeting;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  std::vector<pid_t> pids;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      Communicator communicator = meeting.join(
          rank, 4, {.secret = {.bytes = "s"}, .host_id = std::to_string(rank / 2)}, 30s);
      communicator.barrier();
      if (::write(ready[1], "r", 1) != 1) _exit(1);
      std::vector<float> data(100000);
      while (true) communicator.all_reduce(data);
    }
    pids.push_back(pid);
  }
  for (std::size_t i = 0; i < pids.size(); ++i) {
    char one = 0;
    ASSERT_EQ(::read(ready[0], &one, 1), 1);
  }
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  for (const pid_t pid : pids) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "there are other child processes";
  close(ready[0]);
  close(ready[1]);
  for (const std::string& name : left_behind()) {
    EXPECT_TRUE(before.contains(name) || !is_left_for_long(name)) << name << " is left";
  }
}

}  // namespace
}  // namespace tutti::test
