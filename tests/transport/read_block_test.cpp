#include "transport/tcp/read_block.hpp"

#include <array>

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(ReadBlock, IsInUseAsLongAsSomethingRefersToIt) {
  ReadBlock first = ReadBlock::make();
  std::byte* const memory = first.get();
  ReadBlock second = first;
  EXPECT_TRUE(first.is_shared());
  first = {};
  EXPECT_FALSE(second.is_shared());
  EXPECT_NE(ReadBlock::make().get(), memory) << "it is still in use";
}

TEST(ReadBlock, IsMadeAsOftenAsAsked) {
  constexpr std::size_t many = 64;
  for (int round = 0; round < 3; ++round) {
    std::array<ReadBlock, many> blocks;
    for (std::size_t i = 0; i < many; ++i) {
      blocks.at(i) = ReadBlock::make();
      blocks.at(i).get()[ReadBlock::size - 1] = static_cast<std::byte>(i);
    }
    for (std::size_t i = 0; i < many; ++i) {
      EXPECT_EQ(blocks.at(i).get()[ReadBlock::size - 1], static_cast<std::byte>(i));
    }
  }
}

}  // namespace
}  // namespace tutti
