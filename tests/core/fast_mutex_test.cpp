#include "core/fast_mutex.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// More threads than cores, so that some find it locked and sleep.
TEST(FastMutex, OneThreadAtATime) {
  constexpr int threads = 4;
  constexpr int rounds = 20000;
  FastMutex mutex;
  long count = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::lock_guard lock(mutex);
        const long before = count;
        if (round % 100 == 0) std::this_thread::yield();
        count = before + 1;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(count, long{threads} * rounds);
}

}  // namespace
}  // namespace tutti
