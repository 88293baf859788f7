#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/retry.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/seconds_since.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Of two calls under way, only the first fails with the cause; the second fails with aborted.
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

/// All ranks have done the call before the verdict, so it is complete for all. Their next call
/// throws the verdict.
TEST(Retry, IsCompleteIfAllRanksHaveDoneTheCall) {
  run_threads(4, [](Communicator& comm) {
    if (comm.rank() == 0) {
      std::this_thread::sleep_for(50ms);
      comm.set_completed(1);
      comm.abort("the disk is full");
      return;
    }
    int calls = 0;
    const Retried retried = with_retry(
        comm, [&](Communicator&) { ++calls; }, std::span<const std::span<std::byte>>{});
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(retried.repeats, 0U);
    EXPECT_EQ(retried.gone, std::vector<std::uint32_t>{});
    EXPECT_EQ(retried.ranks, 4U);
    EXPECT_EQ(comm.size(), 4U);
    EXPECT_EQ(comm.completed(), 1U);
    expect_error([&] { comm.barrier(); }, ErrorCode::aborted, "before this call began, rank 0");
  });
}

TEST(Retry, IsNotCompleteIfARankHasNotDoneTheCall) {
  run_threads(4, [](Communicator& comm) {
    if (comm.rank() == 0) {
      std::this_thread::sleep_for(50ms);
      comm.abort("the disk is full");
      return;
    }
    expect_error(
        [&] {
          (void)with_retry(
              comm, [&](Communicator&) {}, std::span<const std::span<std::byte>>{});
        },
        ErrorCode::aborted, "the disk is full");
    EXPECT_EQ(comm.completed(), 0U);
  });
}

/// A rank that has completed another number of calls than the verdict says did not take part in
/// the verdict. Its calls would not match those of the others.
TEST(Retry, LeavesOutARankThatIsOutOfStep) {
  // A rank that is still in the barrier when another aborts would not have completed it.
  std::latch all_have_left(3);
  run_threads(3, [&](Communicator& comm) {
    comm.barrier();
    all_have_left.arrive_and_wait();
    if (comm.rank() == 2) comm.abort("over");
    while (!comm.verdict()) std::this_thread::sleep_for(1ms);
    if (comm.rank() == 1) {
      comm.set_completed(1);
      expect_error([&] { (void)comm.shrink(); }, ErrorCode::peer_lost, "went on without this rank");
    } else {
      EXPECT_EQ(comm.shrink().gone, std::vector<std::uint32_t>{1});
    }
  });
}

/// The function fails on one rank although the communicator has not failed: because of another
/// communicator, say. The others learn of it at once and repeat the call with it.
TEST(Retry, TellsTheOthersOfAnErrorOfItsFunction) {
  for (const ErrorCode code : {ErrorCode::peer_lost, ErrorCode::timed_out}) {
    run_threads(3,
                [&](Communicator& comm) {
                  const auto begin = std::chrono::steady_clock::now();
                  std::vector<float> data(100, 1);
                  int calls = 0;
                  const Retried retried = with_retry(
                      comm,
                      [&](Communicator& group) {
                        if (++calls == 1 && group.rank() == 1) throw Error(code, "a part failed");
                        group.all_reduce(data);
                      },
                      data);
                  EXPECT_EQ(data[99], 3);
                  EXPECT_EQ(retried.repeats, 1U);
                  EXPECT_TRUE(retried.gone.empty());
                  EXPECT_LT(seconds_since(begin), 2);
                },
                {.timeout = 6000ms});
  }
}

TEST(Retry, StopsAfterRepeatsIfNoRankIsLost) {
  run_threads(2, [](Communicator& comm) {
    const auto begin = std::chrono::steady_clock::now();
    int calls = 0;
    std::vector<float> data(100, 1);
    expect_error(
        [&] {
          (void)with_retry(
              comm,
              [&](Communicator& group) {
                ++calls;
                if (group.rank() == 1) {
                  EXPECT_TRUE(eventually([&] { return group.verdict().has_value(); }));
                }
                group.all_reduce(data, Op::sum, {.timeout = 20ms});
              },
              data);
        },
        ErrorCode::timed_out, "rank 1");
    EXPECT_EQ(calls, 3);
    EXPECT_LT(seconds_since(begin), 3 * 2.1) << "an attempt takes its timeout and 2 s at most";
    EXPECT_EQ(data[99], 1) << "it was not restored";
    comm.all_reduce(data);
    EXPECT_EQ(data[99], 2) << "the communicator cannot be used any more";
  });
}

}  // namespace
}  // namespace tutti::test
