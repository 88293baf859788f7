#include <algorithm>
#include <bit>
#include <map>

#include <gtest/gtest.h>

#include "algorithms/division.hpp"
#include "support/problems.hpp"

/// Properties that papers claim for the algorithms of docs/newer-algorithms.md.
namespace tutti::test {
namespace {

using Kind = Step::Kind;

std::uint32_t log_up(std::uint32_t p, std::uint32_t k) {
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < p; reached *= k) ++rounds;
  return rounds;
}

std::uint32_t rounds(const std::string& name, std::uint32_t p) {
  return algorithm(name).program({.ranks = p}, Rank{0}).rounds();
}

TEST(Structure, KnomialAlgorithmsTakeLogarithmicRounds) {
  for (std::uint32_t p = 1; p <= 70; ++p) {
    for (const std::uint32_t k : {2U, 3U, 5U, 8U}) {
      const std::string radix = ":k=" + std::to_string(k);
      for (const char* const name :
           {"broadcast/knomial", "scatter/knomial", "gather/knomial", "reduce/knomial",
            "allgather/recursive_multiplying", "reduce_scatter/recursive_multiplying",
            "allreduce/recursive_multiplying", "barrier/dissemination"}) {
        EXPECT_EQ(rounds(name + radix, p), log_up(p, k)) << name << radix << " p=" << p;
      }
    }
  }
}

/// With k = 2 the trees and groups are the known ones.
TEST(Structure, RadixTwoIsBinomialAndDoubling) {
  for (std::uint32_t p = 1; p <= 33; ++p) {
    for (const char* const collective : {"broadcast", "scatter", "gather", "reduce"}) {
      const std::string name = collective;
      EXPECT_EQ(algorithm(name + "/knomial:k=2").schedule({.ranks = p}).programs,
                algorithm(name + "/binomial").schedule({.ranks = p}).programs)
          << name << " p=" << p;
    }
    EXPECT_EQ(algorithm("allreduce/recursive_multiplying:k=2").schedule({.ranks = p}).programs,
              algorithm("allreduce/recursive_doubling").schedule({.ranks = p}).programs)
        << p;
  }
}

/// In each round a rank sends to k−1 others, and to at most one more for each longer group.
TEST(Structure, NoRankServesManyMoreThanItsPartners) {
  for (std::uint32_t p = 2; p <= 130; ++p) {
    for (const std::uint32_t k : {2U, 3U, 4U, 8U}) {
      for (std::uint32_t r = 0; r < p; ++r) {
        for (std::uint32_t depth = 0; depth < division_depth(p, k); ++depth) {
          const auto cut = divided(p, r, k, depth);
          if (!cut) continue;
          EXPECT_EQ(cut->sources.size(), cut->parts.size() - 1);
          EXPECT_LE(cut->receivers.size(), 2 * (cut->parts.size() - 1)) << p << " " << k;
        }
      }
    }
  }
}

/// Partners are 1, 1, 3, 5, 11, 21 ranks away: less than the 1, 2, 4, 8, 16, 32 of halving.
TEST(Structure, SwingPartnersAreNear) {
  const std::vector<std::uint32_t> distances{1, 1, 3, 5, 11, 21, 21, 11, 5, 3, 1, 1};
  for (std::uint32_t r = 0; r < 64; ++r) {
    std::vector<std::uint32_t> found;
    for (const Step step : algorithm("allreduce/swing").program({.ranks = 64}, r)) {
      if (step.kind != Kind::send) continue;
      const std::uint32_t up = (step.peers[0] + 64 - r) % 64;
      found.push_back(std::min(up, 64 - up));
    }
    EXPECT_EQ(found, distances) << "rank " << r;
  }
}

/// Each rank sends the fewest bytes possible, whatever the number of ranks.
TEST(Structure, SwingSendsEachBlockOnce) {
  for (std::uint32_t p = 2; p <= 40; ++p) {
    for (std::uint32_t r = 0; r < p; ++r) {
      std::uint64_t sent = 0;
      for (const Step step : algorithm("allreduce/swing").program({.ranks = p}, r)) {
        if (step.kind == Kind::send) sent += step.chunk_count();
      }
      EXPECT_EQ(sent, 2 * (p - 1)) << "p=" << p << " rank " << r;
    }
  }
}

TEST(Structure, PatLimitsTheBlocksPerMessage) {
  for (const std::uint32_t p : {2U, 5U, 8U, 16U, 24U, 64U}) {
    for (const std::uint32_t most : {1U, 2U, 3U, 8U, 64U}) {
      const std::string name = "allgather/pat:blocks=" + std::to_string(most);
      for (const Step step : algorithm(name).program({.ranks = p}, Rank{1})) {
        EXPECT_LE(step.chunk_count(), most) << name << " p=" << p;
      }
    }
  }
  EXPECT_EQ(rounds("allgather/pat:blocks=1", 64), 63U);
  EXPECT_EQ(rounds("allgather/pat:blocks=8", 64), 3U + 7U);
  EXPECT_EQ(rounds("allgather/pat:blocks=64", 64), 6U);
  EXPECT_EQ(rounds("allgather/sparbit", 64), 6U);
}

/// Sparbit sends half of the data to the next rank, Bruck's algorithm to the farthest.
TEST(Structure, SparbitSendsMostToTheNearest) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sent;
  for (const Step step : algorithm("allgather/sparbit").program({.ranks = 16}, Rank{0})) {
    if (step.kind == Kind::send) sent.emplace_back(step.peers[0], step.chunk_count());
  }
  EXPECT_EQ(sent,
            (std::vector<std::pair<std::uint32_t, std::uint64_t>>{{8, 1}, {4, 2}, {2, 4}, {1, 8}}));
}

TEST(Structure, NeighbourExchangeUsesNeighboursOnly) {
  for (std::uint32_t p = 2; p <= 20; p += 2) {
    EXPECT_EQ(rounds("allgather/neighbour_exchange", p), p / 2);
    for (std::uint32_t r = 0; r < p; ++r) {
      for (const Step step : algorithm("allgather/neighbour_exchange").program({.ranks = p}, r)) {
        const std::uint32_t up = (step.peers[0] + p - r) % p;
        EXPECT_TRUE(up == 1 || up == p - 1);
      }
    }
  }
}

/// The chunks that a rank sends to each other rank.
std::map<std::uint32_t, std::uint64_t> sent_to(const Program& program) {
  std::map<std::uint32_t, std::uint64_t> sent;
  for (const Step step : program) {
    if (step.kind != Kind::send) continue;
    for (const Rank peer : step.peers) sent[peer] += step.chunk_count();
  }
  return sent;
}

/// All four or six links of a rank carry the same, so that none is idle while another is busy.
TEST(Structure, TorusUsesAllLinksAlike) {
  for (const char* const name : {"allgather/torus", "reduce_scatter/torus", "allreduce/torus"}) {
    for (const Shape& shape : {Shape{{4, 4}}, Shape{{5, 5}}, Shape{{3, 3, 3}}}) {
      const auto ranks = static_cast<std::uint32_t>(shape.size());
      const Problem problem{.ranks = ranks, .root = {}, .shape = shape};
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const auto sent = sent_to(algorithm(name).program(problem, r));
        EXPECT_EQ(sent.size(), 2 * shape.dimensions.size());
        for (const auto& [peer, chunks] : sent) EXPECT_EQ(chunks, sent.begin()->second);
      }
    }
  }
}

/// The chunks that cross between nodes of G ranks.
std::uint64_t crossing(const std::string& name, std::uint32_t in_node, std::uint32_t nodes) {
  const Problem problem{
      .ranks = in_node * nodes, .root = Rank{1}, .shape = Shape{{in_node, nodes}}};
  std::uint64_t chunks = 0;
  for (std::uint32_t r = 0; r < problem.ranks; ++r) {
    for (const auto& [peer, sent] : sent_to(algorithm(name).program(problem, r))) {
      if (peer / in_node != r / in_node) chunks += sent;
    }
  }
  return chunks;
}

TEST(Structure, HierarchiesSendTheFewestBytesBetweenNodes) {
  for (const std::uint32_t g : {2U, 4U, 5U}) {
    for (const std::uint32_t n : {2U, 3U, 4U}) {
      // Each block reaches every other node once.
      const std::uint64_t blocks = std::uint64_t{g} * n * (n - 1);
      for (const char* const name : {"allgather/mesh_ring", "allgather/mesh_bruck",
                                     "reduce_scatter/mesh_ring", "reduce_scatter/mesh_bruck"}) {
        EXPECT_EQ(crossing(name, g, n), blocks) << name << " " << g << "x" << n;
      }
      // Each of g pieces reaches every other node once.
      EXPECT_EQ(crossing("broadcast/mesh_tree", g, n), g * (n - 1));
      EXPECT_EQ(crossing("broadcast/mesh_chain", g, n), g * (n - 1));
      // A block for each pair of ranks on different nodes.
      EXPECT_EQ(crossing("alltoall/mesh_pairwise", g, n), std::uint64_t{g} * g * n * (n - 1));
    }
  }
}

}  // namespace
}  // namespace tutti::test
