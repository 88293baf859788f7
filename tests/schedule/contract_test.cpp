#include <vector>

#include <gtest/gtest.h>

#include <tutti/schedule/contract.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using enum Collective;

/// All chunks of a series.
std::vector<std::uint64_t> chunks_of(const ChunkSeries& series) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < series.count; ++i) found.push_back(series[i].index());
  return found;
}

using Chunks = std::vector<std::uint64_t>;

/// The inputs and outputs of ranks 0, 1, 2 with root 1.
struct Promise {
  Collective collective;
  std::uint64_t chunks;
  std::vector<Chunks> inputs;
  std::vector<Chunks> outputs;
};

std::vector<Promise> promises() {
  const Chunks all{0, 1, 2, 3, 4, 5};
  const std::vector<Chunks> everywhere{all, all, all};
  const std::vector<Chunks> at_root{{}, all, {}};
  const std::vector<Chunks> blocks{{0, 1}, {2, 3}, {4, 5}};
  return {
      {broadcast, 6, at_root, everywhere},
      {scatter, 6, at_root, blocks},
      {gather, 6, blocks, at_root},
      {allgather, 6, blocks, everywhere},
      {reduce, 6, everywhere, at_root},
      {allreduce, 6, everywhere, everywhere},
      {reduce_scatter, 6, everywhere, blocks},
      {alltoall, 9, {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}, {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}},
      {barrier, 6, everywhere, everywhere},
  };
}

Contract contract_of(const Promise& promise) {
  return {.collective = promise.collective,
          .ranks = 3,
          .root = has_root(promise.collective) ? Rank{1} : Rank{0},
          .chunks = promise.chunks};
}

TEST(Contract, DefinesInputsAndOutputsOfEachRank) {
  ASSERT_EQ(promises().size(), collectives().size());
  for (const Promise& promise : promises()) {
    SCOPED_TRACE(name(promise.collective));
    const Contract contract = contract_of(promise);
    EXPECT_NO_THROW(contract.check());
    for (std::uint32_t r = 0; r < 3; ++r) {
      EXPECT_EQ(chunks_of(contract.input(r)), promise.inputs[r]) << "rank " << r;
      EXPECT_EQ(chunks_of(contract.output(r)), promise.outputs[r]) << "rank " << r;
    }
  }
}

TEST(Contract, OriginIsTheOnlyContributor) {
  for (const Promise& promise : promises()) {
    SCOPED_TRACE(name(promise.collective));
    const Contract contract = contract_of(promise);
    for (std::uint64_t c = 0; c < contract.chunks; ++c) {
      std::vector<Rank> bringers;
      for (std::uint32_t r = 0; r < 3; ++r) {
        if (contract.input(r).contains(Chunk{c})) bringers.emplace_back(r);
      }
      const std::optional<Rank> origin = contract.origin(Chunk{c});
      EXPECT_EQ(origin.has_value(), !is_reduction(contract.collective));
      EXPECT_EQ(bringers.size(), origin ? 1 : 3);
      EXPECT_EQ(bringers.front(), origin.value_or(Rank{0})) << c;
    }
  }
}

TEST(Contract, OnlyABarrierMayRepeat) {
  for (const Collective each : collectives()) {
    EXPECT_EQ(Contract{.collective = each}.may_repeat(), each == barrier) << name(each);
  }
}

TEST(Contract, InPlaceAnOutputChunkOverwritesItself) {
  const Contract gathers{.collective = allgather, .ranks = 3, .root = {}, .chunks = 3};
  EXPECT_EQ(gathers.output_over(Rank{1}, Chunk{1}), Chunk{1});
  const Contract scatters{.collective = reduce_scatter, .ranks = 3, .root = {}, .chunks = 3};
  EXPECT_EQ(scatters.output_over(Rank{1}, Chunk{1}), Chunk{1});
  EXPECT_EQ(scatters.output_over(Rank{1}, Chunk{2}), std::nullopt);
}

TEST(Contract, InPlaceAlltoallBlockFromARankOverwritesTheBlockForIt) {
  const Contract contract{.collective = alltoall, .ranks = 3, .root = {}, .chunks = 9};
  EXPECT_EQ(contract.output_over(Rank{1}, Chunk{3}), Chunk{1});  // 0 → 1 overwrites 1 → 0.
  EXPECT_EQ(contract.output_over(Rank{1}, Chunk{5}), Chunk{7});  // 2 → 1 overwrites 1 → 2.
  EXPECT_EQ(contract.output_over(Rank{1}, Chunk{4}), Chunk{4});  // 1 → 1 stays.
}

TEST(Contract, CheckNamesTheError) {
  struct Wrong {
    Contract contract;
    std::string says;
  };
  const std::vector<Wrong> wrongs{
      {{allreduce, 0, Rank{0}, 1}, "needs 1 to 2147483647 ranks, not 0"},
      {{allreduce, 2147483648U, Rank{0}, 1}, "not 2147483648"},
      {{broadcast, 3, Rank{3}, 1}, "root 3 is not one of the 3 ranks 0 to 2"},
      {{broadcast, 3, Rank{0}, 0}, "at least one chunk"},
      {{scatter, 3, Rank{0}, 4}, "a multiple of 3, not 4"},
      {{gather, 3, Rank{0}, 4}, "a multiple of 3, not 4"},
      {{allgather, 3, Rank{0}, 1}, "a multiple of 3, not 1"},
      {{reduce_scatter, 3, Rank{0}, 7}, "a multiple of 3, not 7"},
      {{alltoall, 3, Rank{0}, 3}, "has 9 chunks, one per pair, not 3"},
      {{alltoall, 65536, Rank{0}, 0}, "at least one chunk"},
  };
  for (const Wrong& wrong : wrongs) {
    expect_error([&] { wrong.contract.check(); }, ErrorCode::invalid_argument, wrong.says);
  }
}

TEST(Contract, CheckAcceptsLargeContracts) {
  EXPECT_NO_THROW((Contract{alltoall, 65536, Rank{0}, std::uint64_t{1} << 32}.check()));
  EXPECT_NO_THROW((Contract{allreduce, 2147483647, Rank{0}, std::uint64_t{1} << 60}.check()));
}

}  // namespace
}  // namespace tutti::test
