#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "support/collective_check.hpp"
#include "support/problems.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

/// Runs every trial on threads and reports the first that fails.
void expect_right(std::uint32_t ranks, const std::vector<Trial>& trials) {
  run_threads(ranks, [&](Communicator& communicator) {
    for (const Trial& trial : trials) {
      const std::string fault = try_call(communicator, trial);
      if (fault.empty()) continue;
      ADD_FAILURE() << words(trial) << " with " << ranks << " ranks: " << fault;
      return;
    }
  });
}

/// Around the sizes of cache lines, inline messages, direct reads and slices.
constexpr std::uint64_t counts[] = {0, 1, 3, 12, 13, 16, 17, 511, 513, 5000};

class EveryAlgorithmOnThreads : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryAlgorithmOnThreads, IsCorrect) {
  const Algorithm& algorithm = *GetParam();
  for (const std::uint32_t p : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U}) {
    if (is_sanitized && p > 3 && p != 7) continue;
    std::vector<Trial> trials;
    for (const std::uint64_t count : counts) {
      Trial trial{.collective = algorithm.collective,
                  .algorithm = std::string(algorithm.name),
                  .count = count,
                  .root = static_cast<std::uint32_t>(count % p)};
      trials.push_back(trial);
      trial.in_place = true;
      trials.push_back(trial);
      trial.in_place = false;
      trial.misaligned = 1;
      trial.dtype = DType::i64;
      trials.push_back(trial);
      if (has_block_per_rank(algorithm.collective)) {
        trial.counted = true;
        trials.push_back(trial);
      }
    }
    expect_right(p, trials);
  }
}

TEST_P(EveryAlgorithmOnThreads, ReducesEveryDtypeWithEveryOp) {
  const Algorithm& algorithm = *GetParam();
  std::vector<Trial> trials;
  if (is_reduction(algorithm.collective) && algorithm.collective != Collective::barrier) {
    for (const DType dtype : dtypes()) {
      for (const Op op : ops()) {
        if (!applies(op, dtype)) continue;
        trials.push_back({.collective = algorithm.collective,
                          .algorithm = std::string(algorithm.name),
                          .dtype = dtype,
                          .op = op,
                          .count = 37});
      }
    }
  }
  for (const std::uint32_t p : {2U, 3U, 4U}) expect_right(p, trials);
}

INSTANTIATE_TEST_SUITE_P(Api, EveryAlgorithmOnThreads, ::testing::ValuesIn(every_algorithm()),
                         [](const auto& each) { return test_name(*each.param); });

TEST(Threads, ReduceEveryDtypeWithEveryOp) {
  std::vector<Trial> trials;
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::reduce_scatter}) {
    for (const DType dtype : dtypes()) {
      for (const Op op : ops()) {
        if (!applies(op, dtype)) continue;
        for (const std::uint64_t count : {1U, 37U, 1025U}) {
          trials.push_back({.collective = collective, .dtype = dtype, .op = op, .count = count});
        }
      }
    }
  }
  for (const std::uint32_t p : {1U, 2U, 3U, 4U}) expect_right(p, trials);
}

/// More short messages than a descriptor ring holds are under way: the sender waits in the middle
/// of a call that had begun on the short path.
TEST(Threads, ShortCallsWaitForAReceiverThatFallsBehind) {
  run_threads(3, [](Communicator& comm) {
    for (std::uint32_t begin = 0; begin < 300; begin += 100) {
      if (comm.rank() != begin / 100) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      for (std::uint32_t i = begin; i < begin + 100; ++i) {
        std::vector<std::uint32_t> data(2, comm.rank() == begin / 100 ? i : 0);
        comm.broadcast(data, begin / 100);
        ASSERT_EQ(data, std::vector<std::uint32_t>(2, i));
      }
    }
    std::vector<std::uint32_t> ones(12, 1);
    comm.all_reduce(ones);
    EXPECT_EQ(ones, std::vector<std::uint32_t>(12, 3));
    EXPECT_EQ(comm.counters(Collective::broadcast).total().messages_sent, 200U);
  });
}

TEST(Threads, ChosenAlgorithmsAreCorrect) {
  std::vector<Trial> trials;
  for (const Collective collective : collectives()) {
    for (const std::uint64_t count : {0U, 1U, 100U, 3000U, 20000U}) {
      for (const bool in_place : {false, true}) {
        trials.push_back({.collective = collective, .count = count, .in_place = in_place});
        trials.push_back({.collective = collective,
                          .count = count,
                          .in_place = in_place,
                          .asynchronous = true,
                          .shared = true});
      }
      const bool blocks = has_block_per_rank(collective) || collective == Collective::alltoall;
      if (blocks) trials.push_back({.collective = collective, .count = count, .counted = true});
    }
  }
  for (const std::uint32_t p : {1U, 2U, 3U, 4U, 7U}) expect_right(p, trials);
}

}  // namespace
}  // namespace tutti::test
