#include "rendezvous/thread_exchange.hpp"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

TEST(ThreadExchange, GathersContributionsInEveryRound) {
  for (const std::uint32_t ranks : {1U, 2U, 5U, 32U}) {
    ThreadGather gather(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] {
        ThreadExchange exchange(gather, Rank(r), Clock::now() + 20s);
        for (int round = 0; round < 50; ++round) {
          const auto all = exchange.all_gather(std::to_string(r) + " in " + std::to_string(round));
          ASSERT_EQ(all.size(), ranks);
          for (std::uint32_t other = 0; other < ranks; ++other) {
            ASSERT_EQ(all[other], std::to_string(other) + " in " + std::to_string(round));
          }
        }
      });
    }
    for (std::thread& each : threads) each.join();
  }
}

TEST(ThreadExchange, NamesMissingRanks) {
  ThreadGather gather(4);
  ThreadExchange one(gather, Rank(1), Clock::now() + 100ms);
  test::expect_error([&] { (void)one.all_gather("mine"); }, ErrorCode::timed_out,
                     "ranks 0, 2 and 3");
  // A rank that comes too late gets the same error.
  ThreadExchange two(gather, Rank(2), Clock::now() + 10s);
  test::expect_error([&] { (void)two.all_gather("mine"); }, ErrorCode::timed_out,
                     "ranks 0, 2 and 3");
}

TEST(ThreadExchange, RejectsARankOutOfRange) {
  ThreadGather gather(2);
  test::expect_error([&] { ThreadExchange(gather, Rank(2), Clock::now() + 1s); },
                     ErrorCode::invalid_argument, "rank 2 is out of range");
}

TEST(ThreadExchange, RejectsTheSameRankTwice) {
  ThreadGather gather(2);
  std::thread other([&] {
    ThreadExchange exchange(gather, Rank(0), Clock::now() + 500ms);
    test::expect_error([&] { (void)exchange.all_gather("mine"); }, ErrorCode::timed_out, "rank 1");
  });
  std::this_thread::sleep_for(100ms);
  ThreadExchange again(gather, Rank(0), Clock::now() + 1s);
  test::expect_error([&] { (void)again.all_gather("mine"); }, ErrorCode::mismatch, "twice");
  other.join();
}

}  // namespace
}  // namespace tutti
