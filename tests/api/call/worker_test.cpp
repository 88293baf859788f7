#include "api/call/worker.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(Worker, RunsCallsInOrderWhoeverWaits) {
  for (int turn = 0; turn < 200; ++turn) {
    Worker worker;
    std::vector<int> order;  // Written by one call at a time.
    std::vector<Work> works;
    for (int i = 0; i < 12; ++i) works.push_back(worker.add([&order, i] { order.push_back(i); }));
    std::vector<std::thread> waiters;
    for (const int last : {11, 3, 7}) {
      waiters.emplace_back([&works, last] { works[static_cast<std::size_t>(last)].wait(); });
    }
    for (std::thread& each : waiters) each.join();
    EXPECT_TRUE(worker.idle());
    const std::vector<int> expected{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    EXPECT_EQ(order, expected);
  }
}

TEST(Worker, RunsCallsThatNobodyWaitsFor) {
  std::atomic<int> done{0};
  {
    Worker worker;
    for (int i = 0; i < 5; ++i) (void)worker.add([&done] { ++done; });
    for (int i = 0; i < 10000 && done < 5; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(done, 5);
    (void)worker.add([&done] { ++done; });
  }
  EXPECT_EQ(done, 6);
}

/// The thread that waits for the first call runs it, so that nobody else is there for the second.
TEST(Worker, GoesOnWithCallsThatCameWhileAWaitingThreadWasBusy) {
  for (int turn = 0; turn < 200; ++turn) {
    Worker worker;
    std::atomic<bool> has_begun{false};
    std::atomic<bool> may_end{false};
    const Work first = worker.add([&] {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
    });
    std::thread waiter([&] { first.wait(); });
    while (!has_begun) std::this_thread::yield();
    const Work second = worker.add([] {});
    may_end = true;
    for (int i = 0; i < 10000 && !second.test(); ++i) std::this_thread::sleep_for(1ms);
    waiter.join();
    ASSERT_TRUE(second.test());
  }
}

TEST(Worker, OnlyTheCallThatFailsThrows) {
  Worker worker;
  const Work fails = worker.add([] { throw std::runtime_error("no"); });
  const Work works = worker.add([] {});
  works.wait();
  EXPECT_THROW(fails.wait(), std::runtime_error);
}

TEST(Worker, WaitingForATimeRunsNoCallBeforeIt) {
  Worker worker;
  std::atomic<bool> may_end{false};
  const Work slow = worker.add([&] {
    while (!may_end) std::this_thread::yield();
  });
  const Work next = worker.add([] {});
  EXPECT_FALSE(next.wait_for(1ms));
  may_end = true;
  EXPECT_TRUE(next.wait_for(10s));
  slow.wait();
}

}  // namespace
}  // namespace tutti::test
