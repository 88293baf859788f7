#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/figures.hpp>

namespace tutti {
namespace {

Figures figures(const char* name, const Problem& problem, std::uint64_t size) {
  const Schedule schedule = algorithm(name).schedule(problem);
  return count(schedule, even_layout(schedule.contract, size));
}

/// The table of allreduce algorithms in the lectures, for vectors of D bytes.
TEST(Figures, MatchTheTableOfTheLectures) {
  for (std::uint32_t p = 2; p <= 33; ++p) {
    const std::uint64_t d = std::uint64_t{p} * 1000;
    const std::uint32_t height = p < 4 ? 1 : p < 8 ? 2 : p < 16 ? 3 : p < 32 ? 4 : 5;
    struct Line {
      const char* name;
      std::uint64_t total;
      std::uint32_t steps;
      std::uint64_t most_in_a_step;
    };
    const std::uint64_t once = std::uint64_t{p - 1} * d;
    const Line lines[] = {
        {"allreduce/mesh", p * once, 1, once},
        {"allreduce/root", 2 * once, 2, once},
        {"allreduce/binary_tree", 2 * once, 2 * height, p == 2 ? d : 2 * d},
        {"allreduce/ring_naive", 2 * once, 2 * (p - 1), d},
        {"allreduce/ring", 2 * once, 2 * (p - 1), d / p},
    };
    for (const Line& line : lines) {
      const Figures counted = figures(line.name, {.ranks = p}, d);
      EXPECT_EQ(counted.bytes, line.total) << line.name << " p=" << p;
      EXPECT_EQ(counted.rounds, line.steps) << line.name << " p=" << p;
      EXPECT_EQ(counted.most_in_a_round, line.most_in_a_step) << line.name << " p=" << p;
    }
  }
}

TEST(Figures, RingSendsTheFewestBytesOnEveryRank) {
  for (const std::uint32_t p : {2U, 3U, 8U, 64U}) {
    const std::uint64_t n = std::uint64_t{p} * 4096;
    const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = p});
    for (const Program& program : ring.programs) {
      const RankFigures rank = count(program, even_layout(ring.contract, n));
      EXPECT_EQ(rank.sent, 2 * (p - 1) * n / p);
      EXPECT_EQ(rank.received, rank.sent);
      EXPECT_EQ(rank.reduced, (p - 1) * n / p);
      EXPECT_EQ(rank.messages, 2 * (p - 1));
    }
  }
}

TEST(Figures, UseCountsPerRank) {
  // allgatherv: rank r contributes r·10 bytes; in a ring all blocks but one pass through every
  // rank.
  const Schedule ring = algorithm("allgather/ring").schedule({.ranks = 4});
  const Layout counts = Layout::counted({0, 10, 20, 30});
  const Figures counted = count(ring, counts);
  EXPECT_EQ(counted.bytes, 3 * 60U);
  EXPECT_EQ(counted.most_sent, 60U);      // Rank 1 never sends block 2, … rank 3 never block 0.
  EXPECT_EQ(counted.most_received, 60U);  // Rank 0 lacks all three.
}

TEST(Figures, CountUnevenChunks) {
  const Figures counted = figures("allreduce/ring", {.ranks = 7}, 1000001);
  EXPECT_EQ(counted.bytes, 2 * 6 * 1000001U);
}

TEST(Figures, AreZeroForOneRank) {
  for (const Algorithm& each : algorithms()) {
    const Problem problem{.ranks = 1, .shape = each.needs_shape() ? squarest(1) : Shape{}};
    EXPECT_EQ(count(each.schedule(problem), Layout::equal(each.chunk_count(problem), 8)), Figures{})
        << each.name;
  }
}

}  // namespace
}  // namespace tutti
