#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include <tutti/schedule/layout.hpp>

#include "support/errors.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> sizes_of(const Layout& layout) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) sizes.push_back(layout.size(Chunk{i}));
  return sizes;
}

using Sizes = std::vector<std::uint64_t>;

TEST(Layout, EqualGivesEachChunkTheSameSize) {
  EXPECT_EQ(sizes_of(Layout::equal(3, 5)), (Sizes{5, 5, 5}));
  EXPECT_EQ(Layout::equal(3, 5).total(), 15);
  EXPECT_EQ(Layout::equal(3, 0).total(), 0);
  EXPECT_EQ(Layout::equal(0, 5).total(), 0);
}

TEST(Layout, BalancedGivesTheFirstChunksOneMore) {
  EXPECT_EQ(sizes_of(Layout::balanced(4, 10)), (Sizes{3, 3, 2, 2}));
  EXPECT_EQ(sizes_of(Layout::balanced(4, 8)), (Sizes{2, 2, 2, 2}));
  EXPECT_EQ(sizes_of(Layout::balanced(4, 3)), (Sizes{1, 1, 1, 0}));
  EXPECT_EQ(sizes_of(Layout::balanced(4, 0)), (Sizes{0, 0, 0, 0}));
}

TEST(Layout, CountedGivesEachChunkItsOwnSize) {
  const Sizes sizes{0, 3, 0, 0, 7, 1, 0};
  EXPECT_EQ(sizes_of(Layout::counted(sizes)), sizes);
  EXPECT_EQ(Layout::counted(sizes).total(), 11);
  EXPECT_EQ(Layout::counted({}).total(), 0);
}

TEST(Layout, ChunksAreConsecutive) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Layout layout = random_layout(1 + random.below(20U), random);
    std::uint64_t sum = 0;
    for (std::uint64_t c = 0; c < layout.chunks(); ++c) {
      EXPECT_EQ(layout.offset(Chunk{c}), sum);
      sum += layout.size(Chunk{c});
    }
    EXPECT_EQ(layout.total(), sum);
    const std::uint64_t from = random.below(layout.chunks());
    const std::uint64_t count = 1 + random.below(layout.chunks() - from);
    std::uint64_t of_range = 0;
    for (std::uint64_t c = from; c < from + count; ++c) of_range += layout.size(Chunk{c});
    EXPECT_EQ(layout.size({Chunk{from}, count}), of_range);
  }
}

TEST(Layout, BalancedSizesDifferByAtMostOne) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t total = random.below(500U);
    const Sizes sizes = sizes_of(Layout::balanced(1 + random.below(50U), total));
    EXPECT_LE(sizes.front() - sizes.back(), 1);
    EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  }
}

/// One size per chunk would not fit into memory: 2^60 chunks would take 8 EiB.
TEST(Layout, EqualAndBalancedUseNoMemoryPerChunk) {
  constexpr std::uint64_t chunks = std::uint64_t{1} << 60;
  const Layout equal = Layout::equal(chunks, 8);
  EXPECT_EQ(equal.total(), std::uint64_t{1} << 63);
  EXPECT_EQ(equal.offset(Chunk{chunks - 1}), (std::uint64_t{1} << 63) - 8);
  const Layout balanced = Layout::balanced(chunks, chunks + 1);
  EXPECT_EQ(balanced.total(), chunks + 1);
  EXPECT_EQ(balanced.size(Chunk{0}), 2);
  EXPECT_EQ(balanced.size(Chunk{chunks - 1}), 1);
}

TEST(Layout, RejectsTotalsThatOverflow) {
  const std::string says = "must fit in 64 bits";
  expect_error([] { (void)Layout::equal(3, most / 2); }, ErrorCode::invalid_argument, says);
  expect_error([] { (void)Layout::equal(most, most); }, ErrorCode::invalid_argument, says);
  expect_error([] { (void)Layout::counted({most, 0, 1}); }, ErrorCode::invalid_argument, says);
  EXPECT_EQ(Layout::equal(1, most).total(), most);
  EXPECT_EQ(Layout::counted({most - 1, 1}).total(), most);
  EXPECT_EQ(Layout::balanced(7, most).total(), most);
}

TEST(Layout, BalancedNeedsAChunk) {
  expect_error([] { (void)Layout::balanced(0, 5); }, ErrorCode::invalid_argument,
               "at least one chunk");
}

TEST(EvenLayout, DividesTheLargerBuffer) {
  using enum Collective;
  EXPECT_EQ(sizes_of(even_layout({allgather, 4, Rank{0}, 4}, 10)), (Sizes{3, 3, 2, 2}));
  EXPECT_EQ(sizes_of(even_layout({broadcast, 4, Rank{0}, 1}, 10)), (Sizes{10}));
  // Each rank of an alltoall has its own buffer.
  EXPECT_EQ(sizes_of(even_layout({alltoall, 2, Rank{0}, 4}, 10)), (Sizes{5, 5, 5, 5}));
  EXPECT_EQ(even_layout({barrier, 4, Rank{0}, 1}, 10).total(), 0);
}

TEST(EvenLayout, RejectsTotalsThatOverflow) {
  expect_error(
      [] {
        (void)even_layout({Collective::alltoall, 2, Rank{0}, 4}, most);
      },
      ErrorCode::invalid_argument, "must fit in 64 bits");
}

}  // namespace
}  // namespace tutti::test
