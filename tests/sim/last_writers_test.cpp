#include "sim/last_writers.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace tutti {
namespace {

/// Each step receives a range of at most `most` chunks.
Program random_program(test::Random& random, std::uint64_t chunks, std::uint64_t most) {
  Program program(1);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t first = random.below(chunks);
    const std::uint64_t count = 1 + random.below(std::min(most, chunks - first));
    program.receive(0, Rank{0}, ChunkRange(Chunk{first}, count));
  }
  return program;
}

/// Some steps only read; the others write.
void expect_writers_of_each_chunk(LastWriters& writers, const Program& program,
                                  const Contract& contract) {
  std::vector<std::uint32_t> by_chunk(contract.chunks, LastWriters::none);
  writers.begin(program, contract);
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const ChunkRange range = program[i].chunks.front();
    std::set<std::uint32_t> expected;
    for (std::uint64_t c = range.first.index(); c < range.end().index(); ++c) {
      if (by_chunk[c] != LastWriters::none) expected.insert(by_chunk[c]);
      if (i % 3 != 0) by_chunk[c] = i;
    }
    std::set<std::uint32_t> seen;
    writers.visit(range, i % 3 != 0 ? i : LastWriters::none,
                  [&](std::uint32_t writer) { seen.insert(writer); });
    EXPECT_EQ(seen, expected) << "step " << i;
  }
}

TEST(LastWriters, MatchEachChunkForAnyRangeLength) {
  test::Random random(1);
  LastWriters writers;
  for (int i = 0; i < 200; ++i) {
    const Contract contract{.collective = Collective::allgather,
                            .ranks = 1,
                            .chunks = 1 + random.below(std::uint64_t{100})};
    for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{100}}) {
      expect_writers_of_each_chunk(writers, random_program(random, contract.chunks, most),
                                   contract);
    }
  }
}

TEST(LastWriters, AreKeptPerPieceBeyondTheLimit) {
  const Contract contract{
      .collective = Collective::allgather, .ranks = 1, .chunks = std::uint64_t{1} << 40};
  Program program(1);
  program.receive(0, Rank{0}, ChunkRange(Chunk{0}, contract.chunks));
  LastWriters writers;
  writers.begin(program, contract);
  std::vector<std::uint32_t> seen;
  const auto see = [&](std::uint32_t writer) { seen.push_back(writer); };
  writers.visit(ChunkRange(Chunk{0}, contract.chunks), 5, see);
  EXPECT_TRUE(seen.empty());
  writers.visit(Chunk{contract.chunks / 2}, 6, see);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{5}));
  writers.visit(ChunkRange(Chunk{0}, contract.chunks), LastWriters::none, see);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{5, 5, 6, 5}));
}

}  // namespace
}  // namespace tutti
