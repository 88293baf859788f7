#include <algorithm>
#include <atomic>
#include <cstring>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "cli/bench/memory.hpp"
#include "cli/bench/verification.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

using cli::BenchBuffers;
using cli::BenchCase;
using cli::BenchVerification;

/// The buffers of one rank.
struct Buffers {
  explicit Buffers(const BenchCase& what, std::uint32_t ranks)
      : one(cli::larger_bytes(what, ranks)), other(cli::larger_bytes(what, ranks)) {}

  [[nodiscard]] BenchBuffers pointers() { return {.one = one.data(), .other = other.data()}; }

  std::vector<std::byte> one;
  std::vector<std::byte> other;
};

/// What is counted as wrong over all ranks if `spoil` has its way with the output of rank 1.
template <class Spoil>
std::uint64_t count_wrong(const BenchCase& what, std::uint32_t ranks, bool in_place,
                          const Spoil& spoil) {
  std::atomic<std::uint64_t> wrong = 0;
  run_threads(ranks, [&](Communicator& communicator) {
    Buffers buffers(what, ranks);
    const Call call = call_of(what, buffers.pointers(), in_place, communicator.rank(), ranks);
    const BenchVerification verification(what, communicator.rank(), ranks, 7);
    verification.prepare(call);
    communicator.run(call);
    if (communicator.rank() == 1) spoil(static_cast<std::byte*>(call.output));
    wrong += verification.count_wrong(call);
  });
  return wrong;
}

void leave(std::byte* /*output*/) {}
void damage_one(std::byte* output) { output[3 * sizeof(float)] ^= std::byte{1}; }

BenchCase small(Collective collective) {
  return {.collective = collective, .root = 1, .count = 1000};
}

TEST(BenchVerification, FindsNothingWrongWithWhatIsRight) {
  for (const Collective each : collectives()) {
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(count_wrong(small(each), 3, in_place, leave), 0) << name(each) << in_place;
    }
  }
}

TEST(BenchVerification, CountsOneWrongElement) {
  for (const Collective each : collectives()) {
    if (each == Collective::barrier) continue;
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(count_wrong(small(each), 3, in_place, damage_one), 1) << name(each) << in_place;
    }
  }
}

TEST(BenchVerification, CountsEveryElementThatNobodyWrote) {
  for (const Collective each : collectives()) {
    if (each == Collective::barrier) continue;
    const BenchCase what = small(each);
    constexpr std::uint32_t ranks = 2;
    Buffers buffers(what, ranks);
    const Call call = call_of(what, buffers.pointers(), false, 1, ranks);
    const BenchVerification verification(what, 1, ranks, 7);
    verification.prepare(call);
    const bool blocks =
        each == Collective::gather || each == Collective::allgather || each == Collective::alltoall;
    EXPECT_EQ(verification.count_wrong(call), what.count * (blocks ? ranks : 1)) << name(each);
  }
}

/// What a call left behind is no right answer for the next.
TEST(BenchVerification, TakesOtherNumbersForAnotherSeed) {
  const BenchCase what = small(Collective::broadcast);
  Buffers buffers(what, 1);
  BenchCase alone = what;
  alone.root = 0;
  const Call call = call_of(alone, buffers.pointers(), false, 0, 1);
  const BenchVerification one(alone, 0, 1, 1);
  one.prepare(call);
  std::memcpy(call.output, call.input, buffers.one.size());
  EXPECT_EQ(one.count_wrong(call), 0);
  EXPECT_GT(BenchVerification(alone, 0, 1, 2).count_wrong(call), 900);
}

/// Chunks that change places are noticed, also where the numbers begin again.
TEST(BenchVerification, NoticesSwappedHalves) {
  BenchCase what = small(Collective::allreduce);
  what.count = 1 << 18;
  const auto swap_halves = [&](std::byte* output) {
    const std::size_t half = what.count / 2 * sizeof(float);
    std::swap_ranges(output, output + half, output + half);
  };
  EXPECT_GT(count_wrong(what, 2, false, swap_halves), what.count * 9 / 10);
}

TEST(BenchVerification, IsExactForEveryTypeAndOperation) {
  for (const DType dtype : dtypes()) {
    for (const Op op : ops()) {
      if (!applies(op, dtype)) continue;
      for (const std::uint32_t ranks : {2, 5, 13}) {
        for (const char* algorithm : {"allreduce/mesh", "allreduce/ring"}) {
          const BenchCase what{.collective = Collective::allreduce,
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
