// A rank that computes a result writes it into the buffers of the ranks that receive it.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

namespace tutti::test {
namespace {

constexpr std::uint32_t ranks = 4;

/// How many bytes rank r put in one allreduce of `count` floats.
std::vector<std::uint64_t> puts(std::size_t count, bool in_place, const CallOptions& options) {
  std::vector<std::uint64_t> found(ranks);
  run_threads(ranks, [&](Communicator& comm) {
    std::vector<float> input(count);
    std::iota(input.begin(), input.end(), static_cast<float>(comm.rank()));
    std::vector<float> output = in_place ? input : std::vector<float>(count);
    const std::span<const float> from = in_place ? output : input;
    comm.all_reduce(from, std::span(output), Op::sum, options);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(output[i], static_cast<float>(ranks * i + 6)) << "element " << i;
    }
    found[comm.rank()] = comm.counters(Collective::allreduce).bytes_put;
  });
  return found;
}

TEST(Put, TwoShotAllreduceCopiesNoResult) {
  // Short messages are run in order, long ones as they come.
  for (const std::size_t count : {64U, 1024U, 100000U}) {
    for (const bool in_place : {false, true}) {
      const std::uint64_t expected = (ranks - 1) * count / ranks * sizeof(float);
      EXPECT_EQ(puts(count, in_place, {.algorithm = "allreduce/mesh_two_shot"}),
                std::vector<std::uint64_t>(ranks, expected))
          << count << " elements, in place " << in_place;
    }
  }
}

TEST(Put, OneShotAllreduceHasNothingToPut) {
  EXPECT_EQ(puts(1024, false, {.algorithm = "allreduce/mesh"}),
            std::vector<std::uint64_t>(ranks, 0));
}

}  // namespace
}  // namespace tutti::test
