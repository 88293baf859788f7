#include <algorithm>
#include <bit>
#include <set>

#include <gtest/gtest.h>

#include "support/problems.hpp"

namespace tutti::test {
namespace {

using Kind = Step::Kind;

std::uint32_t log2_up(std::uint32_t p) { return static_cast<std::uint32_t>(std::bit_width(p - 1)); }

// ---------------------------------------------------------------------------------- rounds

struct Rounds {
  std::string_view name;
  std::uint32_t (*of)(std::uint32_t p);
};

TEST(Structure, AlgorithmsHaveTheKnownNumberOfRounds) {
  const auto one = [](std::uint32_t p) { return std::min(p - 1, 1U); };
  const auto logarithm = [](std::uint32_t p) { return log2_up(p); };
  const auto height = [](std::uint32_t p) { return std::uint32_t(std::bit_width(p)) - 1; };
  const auto round_trip = [](std::uint32_t p) { return p - 1; };
  const auto half_way = [](std::uint32_t p) { return p / 2; };
  for (const Rounds& row : {
           Rounds{"broadcast/flat", one},
           Rounds{"broadcast/binomial", logarithm},
           Rounds{"broadcast/binary_tree", height},
           Rounds{"broadcast/chain", round_trip},
           Rounds{"broadcast/scatter_allgather",
                  [](std::uint32_t p) { return log2_up(p) + p - 1; }},
           Rounds{"scatter/binomial", logarithm},
           Rounds{"gather/binomial", logarithm},
           Rounds{"reduce/binomial", logarithm},
           Rounds{"allgather/mesh", one},
           Rounds{"allgather/ring", round_trip},
           Rounds{"allgather/bidirectional_ring", half_way},
           Rounds{"allgather/recursive_doubling", logarithm},
           Rounds{"allgather/bruck", logarithm},
           Rounds{"reduce_scatter/ring", round_trip},
           Rounds{"reduce_scatter/bidirectional_ring", half_way},
           Rounds{"reduce_scatter/recursive_halving", logarithm},
           Rounds{"reduce_scatter/bruck", logarithm},
           Rounds{"allreduce/mesh", one},
           Rounds{"allreduce/ring", [](std::uint32_t p) { return 2 * (p - 1); }},
           Rounds{"allreduce/ring_naive", [](std::uint32_t p) { return 2 * (p - 1); }},
           Rounds{"allreduce/recursive_doubling", logarithm},
           Rounds{"allreduce/halving_doubling", [](std::uint32_t p) { return 2 * log2_up(p); }},
           Rounds{"allreduce/bruck", [](std::uint32_t p) { return 2 * log2_up(p); }},
           Rounds{"alltoall/mesh", one},
           Rounds{"alltoall/pairwise", round_trip},
           Rounds{"alltoall/bruck", logarithm},
           Rounds{"barrier/dissemination", logarithm},
       }) {
    for (std::uint32_t p = 1; p <= 64; ++p) {
      EXPECT_EQ(algorithm(row.name).program({.ranks = p}, Rank{0}).rounds(), row.of(p))
          << row.name << " p=" << p;
    }
  }
}

// ---------------------------------------------------------------------------------- rings

/// In each round of a ring every rank sends one chunk up and receives one from below.
void expect_ring(const Program& program, std::uint32_t r, std::uint32_t p,
                 const std::vector<std::uint32_t>& sent, const std::vector<std::uint32_t>& got) {
  ASSERT_EQ(program.size(), 2 * sent.size());
  for (std::size_t s = 0; s < sent.size(); ++s) {
    const Step send = program[2 * s];
    const Step receive = program[2 * s + 1];
    EXPECT_EQ(send.kind, Kind::send);
    EXPECT_EQ(receive.kind, Kind::receive);
    EXPECT_EQ(send.round, s);
    EXPECT_EQ(receive.round, s);
    EXPECT_EQ(send.peers[0], (r + 1) % p);
    EXPECT_EQ(receive.peers[0], (r + p - 1) % p);
    EXPECT_EQ(send.chunks[0], ChunkRange(Chunk{sent[s]}));
    EXPECT_EQ(receive.chunks[0], ChunkRange(Chunk{got[s]}));
  }
}

TEST(Structure, RingReduceScatterLeavesBlockRAtRankR) {
  for (std::uint32_t p = 2; p <= 9; ++p) {
    for (std::uint32_t r = 0; r < p; ++r) {
      std::vector<std::uint32_t> sent;
      std::vector<std::uint32_t> got;
      for (std::uint32_t s = 0; s + 1 < p; ++s) {
        sent.push_back((r + 2 * p - 1 - s) % p);
        got.push_back((r + 2 * p - 2 - s) % p);
      }
      EXPECT_EQ(got.back(), r);
      expect_ring(algorithm("reduce_scatter/ring").program({.ranks = p}, r), r, p, sent, got);
    }
  }
}

TEST(Structure, RingAllgatherForwardsTheLastReceivedBlock) {
  for (std::uint32_t p = 2; p <= 9; ++p) {
    for (std::uint32_t r = 0; r < p; ++r) {
      std::vector<std::uint32_t> sent{r};
      std::vector<std::uint32_t> got;
      for (std::uint32_t s = 0; s + 1 < p; ++s) {
        got.push_back((r + 2 * p - 1 - s) % p);
        if (s + 2 < p) sent.push_back(got.back());
      }
      expect_ring(algorithm("allgather/ring").program({.ranks = p}, r), r, p, sent, got);
    }
  }
}

// ---------------------------------------------------------------------------------- doubling

/// The partners of rank r, round by round; its send and its receive must have the same partner.
std::vector<std::uint32_t> partners(std::string_view name, std::uint32_t p, std::uint32_t r) {
  std::vector<std::uint32_t> found;
  const Program program = algorithm(name).program({.ranks = p}, r);
  for (std::size_t i = 0; i + 1 < program.size(); i += 2) {
    EXPECT_EQ(program[i].peers.size(), 1);
    EXPECT_EQ(program[i].peers[0], program[i + 1].peers[0]);
    EXPECT_EQ(program[i].round, i / 2);
    EXPECT_EQ(program[i + 1].round, i / 2);
    found.push_back(program[i].peers[0]);
  }
  return found;
}

TEST(Structure, RecursiveDoublingPartnerIsRXorTwoToTheRound) {
  for (const std::uint32_t k : {1U, 2U, 3U, 4U, 5U, 6U}) {
    for (std::uint32_t r = 0; r < 1U << k; ++r) {
      std::vector<std::uint32_t> up;
      for (std::uint32_t i = 0; i < k; ++i) up.push_back(r ^ (1U << i));
      const std::vector<std::uint32_t> down(up.rbegin(), up.rend());
      EXPECT_EQ(partners("allgather/recursive_doubling", 1U << k, r), up);
      EXPECT_EQ(partners("allreduce/recursive_doubling", 1U << k, r), up);
      EXPECT_EQ(partners("reduce_scatter/recursive_halving", 1U << k, r), down);
    }
  }
}

/// For every number of ranks, no rank serves more than two others in a round.
TEST(Structure, RecursiveDoublingDoublesLoadOfARankAtMostOnce) {
  for (std::uint32_t p = 1; p <= 64; ++p) {
    for (std::uint32_t r = 0; r < p; ++r) {
      std::uint32_t doubled = 0;
      for (const Step step : algorithm("allreduce/recursive_doubling").program({.ranks = p}, r)) {
        EXPECT_LE(step.peers.size(), 2) << "p=" << p << " rank " << r;
        doubled += step.peers.size() == 2 ? 1 : 0;
      }
      EXPECT_LE(doubled, 1) << "p=" << p << " rank " << r;
    }
  }
}

// ---------------------------------------------------------------------------------- two trees

/// The chunks that steps of this kind move, which identify the trees that they belong to.
std::set<std::uint64_t> trees(const Program& program, Kind kind, std::size_t least_peers) {
  std::set<std::uint64_t> found;
  for (const Step step : program) {
    const bool counts = step.kind == kind && step.peers.size() >= least_peers;
    if (counts) found.insert(step.chunks[0].first.index());
  }
  return found;
}

TEST(Structure, NoRankAddsInBothTreesOfAnAllreduce) {
  for (std::uint32_t p = 1; p <= 64; ++p) {
    for (std::uint32_t r = 0; r < p; ++r) {
      std::set<std::uint64_t> inner;
      for (const Step step : algorithm("allreduce/double_tree").program({.ranks = p}, r)) {
        if (step.own) inner.insert(step.chunks[0].first.index());
      }
      EXPECT_LE(inner.size(), 1) << "p=" << p << " rank " << r;
    }
  }
}

TEST(Structure, OnlyTheRootForwardsInBothTreesOfABroadcast) {
  for (std::uint32_t p = 1; p <= 64; ++p) {
    for (const std::uint32_t root : {0U, p / 2, p - 1}) {
      const Problem problem{.ranks = p, .root = root, .shape = {}};
      for (std::uint32_t r = 0; r < p; ++r) {
        if (r == root) continue;
        const Program down = algorithm("broadcast/double_tree").program(problem, r);
        const Program up = algorithm("reduce/double_tree").program(problem, r);
        EXPECT_LE(trees(down, Kind::send, 1).size(), 1) << words(problem) << " rank " << r;
        EXPECT_LE(trees(up, Kind::receive, 1).size(), 1) << words(problem) << " rank " << r;
      }
    }
  }
}

/// About half of the ranks are inner nodes of one tree and half of the other.
TEST(Structure, TwoTreesShareTheWork) {
  for (const std::uint32_t p : {8U, 16U, 31U, 32U, 64U}) {
    std::size_t inner = 0;
    for (std::uint32_t r = 0; r < p; ++r) {
      const Program program = algorithm("allreduce/double_tree").program({.ranks = p}, r);
      bool adds = false;
      for (const Step step : program) adds = adds || step.own.has_value();
      inner += adds ? 1 : 0;
    }
    EXPECT_GE(inner, p - 2) << "p=" << p;
  }
}

}  // namespace
}  // namespace tutti::test
