#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/grounds.hpp"

/// Ranks that wait for each other in a cycle, and others that are only slow.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

class MessageCycles : public ::testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Messages, MessageCycles, every_ground(), name_of_ground);

TEST_P(MessageCycles, OfReceivesAreReported) {
  run_ranks(3, GetParam(), [&](Communicator& comm) {
    std::vector<std::uint32_t> got(1);
    const std::uint32_t next = (comm.rank() + 1) % 3;
    const std::chrono::milliseconds timeout = comm.rank() == 1 ? 200ms : 20000ms;
    expect_error([&] { comm.receive(got, next, {.timeout = timeout}); }, ErrorCode::timed_out,
                 "ranks wait for each other in a cycle: rank 0");
    EXPECT_EQ(comm.verdict()->ranks, (std::vector<std::uint32_t>{0, 1, 2}));
  });
}

TEST_P(MessageCycles, OfWorksThatThreadsWaitForAreReported) {
  run_ranks(3, GetParam(), [&](Communicator& comm) {
    std::vector<std::uint32_t> got(1);
    const std::uint32_t next = (comm.rank() + 1) % 3;
    const std::chrono::milliseconds timeout = comm.rank() == 1 ? 1000ms : 20000ms;
    comm.barrier();
    const Work receive = comm.receive_async(got, next, {.timeout = timeout});
    expect_error([&] { receive.wait(); }, ErrorCode::timed_out,
                 "ranks wait for each other in a cycle: rank 0");
    EXPECT_EQ(comm.verdict()->ranks, (std::vector<std::uint32_t>{0, 1, 2}));
  });
}

/// Rank 0 is slow, not blocked: it would still send.
TEST_P(MessageCycles, AreNotFormedByMessagesThatNoThreadWaitsFor) {
  for (const bool waits : {true, false}) {
    run_ranks(2, GetParam(), [&](Communicator& comm) {
      std::vector<std::uint32_t> got(1);
      const std::vector<std::uint32_t> data(100000);
      const std::uint32_t other = 1 - comm.rank();
      const Work receive = comm.receive_async(got, other, {.tag = 1, .timeout = 20s});
      const Work send = comm.send_async(data, other, {.tag = 2, .timeout = 20s});
      comm.barrier();
      if (comm.rank() == 1 && waits) {
        expect_error([&] { comm.receive(got, 0, {.tag = 3, .timeout = 200ms}); },
                     ErrorCode::timed_out, "waited until its deadline");
      } else if (comm.rank() == 1) {
        const Work late = comm.receive_async(got, 0, {.tag = 3, .timeout = 200ms});
        EXPECT_TRUE(eventually([&] { return late.test(); }));
        expect_error([&] { late.wait(); }, ErrorCode::timed_out, "waited until its deadline");
      }
      EXPECT_TRUE(eventually([&] { return comm.verdict().has_value(); }));
      EXPECT_EQ(comm.verdict()->words.find("cycle"), std::string::npos) << comm.verdict()->words;
      expect_error([&] { receive.wait(); }, ErrorCode::timed_out, "no data arrives from rank 0");
      expect_error([&] { send.wait(); }, ErrorCode::timed_out, "no data arrives from rank 0");
    });
  }
}

}  // namespace
}  // namespace tutti::test
