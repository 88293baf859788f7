#include "transport/memory/preemption.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
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

TEST(Preemption, IsSeenWhenAnotherThreadWantsTheCore) {
  const int core = sched_getcpu();
  std::atomic<bool> is_seen{false};
  const auto end = steady_clock::now() + 10s;
  std::thread other([&] {
    stay_on(core);
    while (!is_seen && steady_clock::now() < end) continue;
  });
  std::thread([&] {
    stay_on(core);
    while (!is_seen && steady_clock::now() < end) is_seen = was_preempted_lately();
  }).join();
  other.join();
  EXPECT_TRUE(is_seen);
}

TEST(Preemption, IsNotSeenInAThreadThatHasJustBegun) {
  // A new thread may be preempted, too, but not a hundred of them.
  int unhindered = 0;
  for (int i = 0; i < 100; ++i) {
    std::thread([&] { unhindered += was_preempted_lately() ? 0 : 1; }).join();
  }
  EXPECT_GT(unhindered, 0);
}

}  // namespace
}  // namespace tutti
