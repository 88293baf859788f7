#include "cli/measure/result_check.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "cli/measure/operands.hpp"

namespace tutti::test {
namespace {

using measure::BufferPair;
using measure::Case;
using measure::Operands;
using measure::ResultCheck;

BufferPair buffers_for(const Case& what, std::uint32_t ranks) {
  return {larger_bytes(what, ranks), BufferPair::Kind::private_to_process};
}

/// The wrong elements on all ranks if `spoil` changes the output of rank 1.
template <class Spoil>
std::uint64_t count_wrong(const Case& what, std::uint32_t ranks, bool in_place,
                          const Spoil& spoil) {
  std::atomic<std::uint64_t> wrong = 0;
  run_threads(ranks, [&](Communicator& communicator) {
    const BufferPair buffers = buffers_for(what, ranks);
    const Operands data = operands_in(buffers, what, in_place, communicator.rank(), ranks);
    const ResultCheck check(checked(what), communicator.rank(), ranks, 7);
    check.prepare(data.input, data.output);
    communicator.run(call_of(what, data));
    if (communicator.rank() == 1) spoil(data.output);
    wrong += check.count_wrong(data.output);
  });
  return wrong;
}

void leave(std::byte* /*output*/) {}
void damage_one(std::byte* output) { output[3 * sizeof(float)] ^= std::byte{1}; }

Case small(Collective collective) { return {.collective = collective, .root = 1, .count = 1000}; }

TEST(ResultCheck, AcceptsRightResults) {
  for (const Collective each : collectives()) {
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(count_wrong(small(each), 3, in_place, leave), 0) << name(each) << in_place;
    }
  }
}

TEST(ResultCheck, CountsOneWrongElement) {
  for (const Collective each : collectives()) {
    if (each == Collective::barrier) continue;
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(count_wrong(small(each), 3, in_place, damage_one), 1) << name(each) << in_place;
    }
  }
}

TEST(ResultCheck, CountsEveryElementThatWasNotWritten) {
  for (const Collective each : collectives()) {
    if (each == Collective::barrier) continue;
    const Case what = small(each);
    constexpr std::uint32_t ranks = 2;
    const BufferPair buffers = buffers_for(what, ranks);
    const Operands data = operands_in(buffers, what, false, 1, ranks);
    const ResultCheck check(checked(what), 1, ranks, 7);
    check.prepare(data.input, data.output);
    const bool blocks =
        each == Collective::gather || each == Collective::allgather || each == Collective::alltoall;
    EXPECT_EQ(check.count_wrong(data.output), what.count * (blocks ? ranks : 1)) << name(each);
  }
}

/// The result of one call must not pass as the result of the next.
TEST(ResultCheck, DrawsOtherNumbersForAnotherSeed) {
  Case alone = small(Collective::broadcast);
  alone.root = 0;
  const BufferPair buffers = buffers_for(alone, 1);
  const Operands data = operands_in(buffers, alone, false, 0, 1);
  const ResultCheck check(checked(alone), 0, 1, 1);
  check.prepare(data.input, data.output);
  std::memcpy(data.output, data.input, larger_bytes(alone, 1));
  EXPECT_EQ(check.count_wrong(data.output), 0);
  EXPECT_GT(ResultCheck(checked(alone), 0, 1, 2).count_wrong(data.output), 900);
}

/// Swapped chunks are found though the numbers are periodic.
TEST(ResultCheck, FindsSwappedHalves) {
  Case what = small(Collective::allreduce);
  what.count = 1 << 18;
  const auto swap_halves = [&](std::byte* output) {
    const std::size_t half = what.count / 2 * sizeof(float);
    std::swap_ranges(output, output + half, output + half);
  };
  EXPECT_GT(count_wrong(what, 2, false, swap_halves), what.count * 9 / 10);
}

TEST(ResultCheck, IsExactForEveryTypeAndOperation) {
  for (const DType dtype : dtypes()) {
    for (const Op op : ops()) {
      if (!applies(op, dtype)) continue;
      for (const std::uint32_t ranks : {2, 5, 13}) {
        for (const char* algorithm : {"allreduce/mesh", "allreduce/ring"}) {
          const Case what{.collective = Collective::allreduce,
                          .dtype = dtype,
                          .op = op,
                          .count = 300,
                          .algorithm = algorithm};
          EXPECT_EQ(count_wrong(what, ranks, true, leave), 0)
              << name(dtype) << " " << name(op) << " " << ranks << " " << algorithm;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::test
