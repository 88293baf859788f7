#include <type_traits>

#include <gtest/gtest.h>

#include <tutti/schedule/chunk.hpp>

namespace tutti {
namespace {

static_assert(!std::is_convertible_v<Chunk, Variant> && !std::is_convertible_v<Variant, Chunk>);
static_assert(!std::is_constructible_v<Chunk, Variant>);
static_assert(!std::is_convertible_v<int, Chunk> && !std::is_convertible_v<Chunk, int>);

TEST(Id, IsOrderedByItsIndex) {
  EXPECT_LT(Chunk{1}, Chunk{2});
  EXPECT_EQ(Chunk{2}, Chunk{2});
  EXPECT_EQ(Chunk{}.index(), 0);
}

TEST(ChunkRange, HasOneChunkByDefault) {
  EXPECT_EQ(ChunkRange(Chunk{7}), ChunkRange(Chunk{7}, 1));
  EXPECT_EQ(ChunkRange(Chunk{7}).end(), Chunk{8});
  EXPECT_EQ(ChunkRange(Chunk{7}, 3).end(), Chunk{10});
  EXPECT_NE(ChunkRange(Chunk{7}, 3), ChunkRange(Chunk{7}, 2));
}

TEST(ChunkSeries, CountsInStrides) {
  constexpr ChunkSeries odd{Chunk{1}, 4, 2};
  EXPECT_EQ(odd[0], Chunk{1});
  EXPECT_EQ(odd[3], Chunk{7});
}

TEST(ChunkSeries, ContainsOnlyItsChunks) {
  constexpr ChunkSeries series{Chunk{5}, 3, 4};  // 5, 9, 13
  for (std::uint64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(series.contains(Chunk{i}), i == 5 || i == 9 || i == 13) << i;
  }
  EXPECT_FALSE(ChunkSeries{}.contains(Chunk{0}));
}

}  // namespace
}  // namespace tutti
