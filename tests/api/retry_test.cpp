#include <thread>

#include <gtest/gtest.h>

#include <tutti/retry.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Of several calls under way the second says only that all is over; the first says why.
TEST(Retry, RepeatsSeveralCallsAtOnce) {
  run_threads(3, [](Communicator& comm) {
    if (comm.rank() == 2) return;
    std::vector<float> a(100, 1);
    std::vector<float> b(100, 2);
    const Retried retried = with_retry(
        comm,
        [&](Communicator& group) {
          Work first = group.all_reduce_async(a);
          Work second = group.all_reduce_async(b);
          second.wait();
          first.wait();
        },
        a, b);
    EXPECT_EQ(retried.gone, std::vector<std::uint32_t>{2});
    EXPECT_EQ(retried.ranks, 2U);
    EXPECT_EQ(a[99], 2);
    EXPECT_EQ(b[99], 4);
  });
}

TEST(Retry, GivesUpWhereNobodyIsLost) {
  run_threads(2, [](Communicator& comm) {
    int calls = 0;
    std::vector<float> data(100, 1);
    expect_error(
        [&] {
          (void)with_retry(
              comm,
              [&](Communicator& group) {
                ++calls;
                if (group.rank() == 1) std::this_thread::sleep_for(100ms);
                group.all_reduce(data, Op::sum, {.timeout = 20ms});
              },
              data);
        },
        ErrorCode::timed_out, "rank 1");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(data[99], 1) << "it was not put back";
    comm.all_reduce(data);
    EXPECT_EQ(data[99], 2) << "the communicator is of no more use";
  });
}

}  // namespace
}  // namespace tutti::test
