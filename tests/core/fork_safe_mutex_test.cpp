#include "core/fork_safe_mutex.hpp"

#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

ForkSafeMutex mutex;

/// Without the mutex's care, about every second child finds it locked, and waits forever.
TEST(ForkSafeMutex, IsFreeInAChildWhileAnotherThreadLocksIt) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      const std::lock_guard lock(mutex);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i) {
    ForkedChild child([] {
      const std::lock_guard lock(mutex);
      return "";
    });
    EXPECT_EQ(child.wait(), "");
  }
  stop = true;
  other.join();
  const std::lock_guard lock(mutex);  // And here.
}

}  // namespace
}  // namespace tutti::test
