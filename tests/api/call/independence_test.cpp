#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/eventually.hpp"
#include "support/grounds.hpp"

/// Different communicators never block each other.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

class Independence : public ::testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Api, Independence, every_ground(), name_of_ground);

TEST_P(Independence, SlowReductionDelaysNoOtherCommunicator) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    Communicator slow = comm.duplicate();
    std::atomic<bool> is_done{false};
    std::atomic<bool> was_late{false};
    const auto dawdle = reduction<float>([&](float a, float b) {
      if (!eventually([&] { return is_done.load(); })) was_late = true;
      return a + b;
    });
    // Large enough that much of it is in flight while the reduction waits.
    std::vector<float> held(300000, 1);
    const Work work = slow.all_reduce_async(held, dawdle);
    std::vector<float> data(100000);
    for (int i = 0; i < 20; ++i) {
      data.assign(data.size(), 2);
      comm.all_reduce(data);
      ASSERT_EQ(data.back(), 4);
      std::vector<float> got(data.size());
      const std::uint32_t peer = 1 - comm.rank();
      comm.send_receive(data, peer, got, peer);
      ASSERT_EQ(got.back(), 4);
    }
    is_done = true;
    work.wait();
    EXPECT_FALSE(was_late);
    EXPECT_EQ(held.back(), 2);
  });
}

TEST_P(Independence, CommunicatorThatWaitsForARankDelaysNoOther) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    Communicator waiting = comm.duplicate();
    std::vector<float> held(300000, 1);
    Work work;
    if (comm.rank() == 0) work = waiting.all_reduce_async(held);
    std::vector<float> data(100000);
    for (int i = 0; i < 20; ++i) {
      data.assign(data.size(), 2);
      comm.all_reduce(data);
      ASSERT_EQ(data.back(), 4);
    }
    if (comm.rank() == 1) work = waiting.all_reduce_async(held);
    work.wait();
    EXPECT_EQ(held.back(), 2);
  });
}

}  // namespace
}  // namespace tutti::test
