#include "transport/memory/own_threads.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

void stay_on(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
}

/// Whether a thread on the same core as a busy one, here or in another process, sees that.
bool is_seen_beside_busy_core(int core) {
  bool is_seen = false;
  std::thread([&] {
    stay_on(core);
    const auto end = steady_clock::now() + 300ms;
    while (!is_seen && steady_clock::now() < end) is_seen = own_threads_want_core();
  }).join();
  return is_seen;
}

TEST(OwnThreads, AreSeenWhenTheyWantTheCore) {
  const int core = sched_getcpu();
  std::atomic<bool> ends{false};
  std::thread other([&] {
    stay_on(core);
    while (!ends) continue;
  });
  bool is_seen = false;
  for (int i = 0; i < 30 && !is_seen; ++i) is_seen = is_seen_beside_busy_core(core);
  ends = true;
  other.join();
  EXPECT_TRUE(is_seen);
}

TEST(OwnThreads, DoNotIncludeThoseOfOtherProcesses) {
  const int core = sched_getcpu();
  const pid_t other = fork();
  if (other == 0) {
    stay_on(core);
    const auto end = steady_clock::now() + 20s;
    while (steady_clock::now() < end) continue;
    _exit(0);
  }
  const bool is_seen = is_seen_beside_busy_core(core);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_FALSE(is_seen);
}

}  // namespace
}  // namespace tutti
