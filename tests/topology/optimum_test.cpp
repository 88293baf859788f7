#include <algorithm>
#include <chrono>
#include <numeric>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/optimum.hpp>

#include "support/errors.hpp"
#include "support/random.hpp"

namespace tutti {
namespace {

TEST(Optimum, MatchesThePublishedValuesOfTori) {
  const Optimum small = optimum(generate("torus:4x4,bandwidth=1B/s"));
  EXPECT_EQ(small.allgather, (Fraction{64, 15}));
  EXPECT_NEAR(small.allgather.value(), 4.26667, 5e-6);
  EXPECT_EQ(small.reduce_scatter, small.allgather);
  EXPECT_EQ(small.allreduce, (Fraction{32, 15}));
  EXPECT_EQ(small.composed_allreduce, (Fraction{32, 15}));
  const Optimum large = optimum(generate("torus:8x8,bandwidth=1B/s"));
  EXPECT_EQ(large.allgather, (Fraction{256, 63}));
  EXPECT_NEAR(large.allgather.value(), 4.06349, 5e-6);
}

/// Two hosts of four ranks: all data of a host leaves through its NIC.
TEST(Optimum, IsLimitedByASharedNic) {
  const Optimum found = optimum(generate("server:p=4,hosts=2,inside=50GB/s,outside=10GB/s"));
  EXPECT_EQ(found.allgather, (Fraction{20'000'000'000, 1}));
  EXPECT_EQ(found.cut.ranks, 4U);
  EXPECT_EQ(found.cut.leaving, 10e9);
}

/// A rank receives everything over its one link. Each byte has to enter an edge switch only once,
/// for any number of ranks below it, so that one uplink of the same bandwidth is enough.
TEST(Optimum, DoesNotDependOnOversubscription) {
  EXPECT_EQ(optimum(generate("fat_tree:k=4,bandwidth=1B/s")).allgather, (Fraction{16, 15}));
  const Optimum thin = optimum(generate("fat_tree:k=4,oversubscription=2,bandwidth=1B/s"));
  EXPECT_EQ(thin.allgather, (Fraction{16, 15}));
  EXPECT_EQ(thin.cut.ranks, 15U);
}

/// The definition, evaluated for every cut.
Fraction by_all_cuts(const Network& network, bool reversed) {
  std::uint64_t most_ranks = 0;
  std::uint64_t least_leaving = 1;
  const std::size_t n = network.nodes.size();
  for (std::uint64_t set = 1; set < (std::uint64_t{1} << n); ++set) {
    const auto inside = [&](NodeId node) { return ((set >> node.index()) & 1) != 0; };
    std::uint64_t ranks = 0;
    for (const NodeId rank : network.ranks) ranks += inside(rank) ? 1 : 0;
    if (ranks == network.ranks.size()) continue;
    std::uint64_t leaving = 0;
    for (const Link& link : network.links) {
      const bool crosses =
          reversed ? inside(link.to) && !inside(link.from) : inside(link.from) && !inside(link.to);
      if (crosses) leaving += static_cast<std::uint64_t>(link.bytes_per_second);
    }
    if (ranks * least_leaving > most_ranks * leaving) {
      most_ranks = ranks;
      least_leaving = leaving;
    }
  }
  const std::uint64_t above = least_leaving * network.ranks.size();
  const std::uint64_t divisor = std::gcd(above, most_ranks);
  return {above / divisor, most_ranks / divisor};
}

TEST(Optimum, EqualsTheMinimumOverAllCuts) {
  test::Random random(3);
  int one_way = 0;
  for (int round = 0; round < 150; ++round) {
    Network network;
    const std::uint32_t ranks = 2 + random.below(5U);
    const std::uint32_t switches = random.below(4U);
    for (std::uint32_t i = 0; i < ranks + switches; ++i) {
      network.add(std::to_string(i), i < ranks ? NodeKind::rank : NodeKind::switch_);
    }
    network.ranks_forward = true;
    const std::uint32_t n = ranks + switches;
    const auto rate = [&] { return static_cast<double>(1 + random.below(9U)); };
    // A cycle, so that all nodes are reachable, plus random links.
    for (std::uint32_t i = 0; i < n; ++i) {
      network.add_link(NodeId{i}, NodeId{(i + 1) % n}, rate(), 0);
    }
    for (std::uint32_t i = 0; i < 2 * n; ++i) {
      const NodeId from{random.below(n)};
      const NodeId to{random.below(n)};
      if (from != to) network.add_link(from, to, rate(), 0);
    }
    const Optimum found = optimum(network);
    EXPECT_EQ(found.allgather, by_all_cuts(network, false));
    EXPECT_EQ(found.reduce_scatter, by_all_cuts(network, true));
    one_way += found.allgather == found.reduce_scatter ? 0 : 1;
  }
  EXPECT_GT(one_way, 10);
}

/// The definition of the allreduce bound, evaluated for every partition and every cut.
double by_all_partitions(const Network& network) {
  const std::uint32_t p = network.rank_count();
  const std::size_t n = network.nodes.size();
  // By set of ranks: the least bandwidth that leaves it, with any switches; and that enters it.
  std::vector<double> out(std::size_t{1} << p, 1e300);
  std::vector<double> in(std::size_t{1} << p, 1e300);
  for (std::uint64_t set = 0; set < (std::uint64_t{1} << n); ++set) {
    const auto inside = [&](NodeId node) { return ((set >> node.index()) & 1) != 0; };
    std::size_t ranks = 0;
    for (std::uint32_t r = 0; r < p; ++r) ranks |= std::size_t{inside(network.ranks[r])} << r;
    double leaving = 0;
    double entering = 0;
    for (const Link& link : network.links) {
      if (inside(link.from) && !inside(link.to)) leaving += link.bytes_per_second;
      if (inside(link.to) && !inside(link.from)) entering += link.bytes_per_second;
    }
    out[ranks] = std::min(out[ranks], leaving);
    in[ranks] = std::min(in[ranks], entering);
  }
  const std::size_t all = (std::size_t{1} << p) - 1;
  double least = 1e300;
  for (std::size_t set = 1; set < all; ++set) least = std::min(least, out[set]);
  // Every partition once, as a string of group numbers of restricted growth.
  std::vector<std::size_t> groups;
  const auto visit = [&](const auto& self, std::uint32_t rank) -> void {
    if (rank == p) {
      if (groups.size() < 2) return;
      double leaving = 0;
      double entering = 0;
      for (const std::size_t group : groups) {
        leaving += out[group];
        entering += in[group];
      }
      const double crossings = 2.0 * static_cast<double>(groups.size() - 1);
      least = std::min(least, std::min(leaving, entering) / crossings);
      return;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g] |= std::size_t{1} << rank;
      self(self, rank + 1);
      groups[g] &= ~(std::size_t{1} << rank);
    }
    groups.push_back(std::size_t{1} << rank);
    self(self, rank + 1);
    groups.pop_back();
  };
  visit(visit, 0);
  return least;
}

TEST(Optimum, AllreduceBoundEqualsTheMinimumOverAllPartitions) {
  test::Random random(11);
  int below_singles = 0;
  int above_composition = 0;
  for (int round = 0; round < 200; ++round) {
    Network network;
    const std::uint32_t ranks = 2 + random.below(5U);
    const std::uint32_t n = ranks + random.below(4U);
    for (std::uint32_t i = 0; i < n; ++i) {
      network.add(std::to_string(i), i < ranks ? NodeKind::rank : NodeKind::switch_);
    }
    network.ranks_forward = true;
    const bool symmetric = round % 2 == 0;
    const auto rate = [&] { return static_cast<double>(1 + random.below(9U)); };
    for (std::uint32_t i = 0; i < n; ++i) {
      network.add_link(NodeId{i}, NodeId{(i + 1) % n}, rate(), 0);
      if (symmetric) {
        network.add_link(NodeId{(i + 1) % n}, NodeId{i}, network.links.back().bytes_per_second, 0);
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      const NodeId from{random.below(n)};
      const NodeId to{random.below(n)};
      if (from == to) continue;
      network.add_link(from, to, rate(), 0);
      if (symmetric) network.add_link(to, from, network.links.back().bytes_per_second, 0);
    }
    const Optimum found = optimum(network);
    const double expected = by_all_partitions(network);
    EXPECT_NEAR(found.allreduce.value(), expected, 1e-12 * expected) << round;
    EXPECT_GE(found.allreduce.value(), found.composed_allreduce.value() * (1 - 1e-12));
    below_singles += found.groups.size() < ranks ? 1 : 0;
    above_composition += found.allreduce == found.composed_allreduce ? 0 : 1;
  }
  EXPECT_GT(below_singles, 20);
  EXPECT_GT(above_composition, 20);
}

/// All ranks reduce along the line to the middle and back: every link carries everything once each
/// way. The composition sends 7/8 twice over the first link.
TEST(Optimum, OfALineIsItsBandwidth) {
  const Optimum found = optimum(generate("line:p=8,bandwidth=1B/s"));
  EXPECT_EQ(found.allreduce, (Fraction{1, 1}));
  EXPECT_EQ(found.composed_allreduce, (Fraction{4, 7}));
}

/// The slow rank sends and receives everything once; the composition sends nearly twice as much.
TEST(Optimum, OfAStarWithASlowRankIsTheBandwidthOfThatRank) {
  Network network = generate("star:p=8,bandwidth=10B/s");
  network.links[0].bytes_per_second = network.links[1].bytes_per_second = 1;
  const Optimum found = optimum(network);
  EXPECT_EQ(found.allreduce, (Fraction{1, 1}));
  EXPECT_EQ(found.composed_allreduce, (Fraction{4, 7}));
  EXPECT_EQ(found.groups.size(), 2U);
}

TEST(Optimum, IsExactWithFractionsOfBytes) {
  Network network = generate("star:p=3,bandwidth=1B/s");
  for (Link& link : network.links) link.bytes_per_second = 0.375;
  EXPECT_EQ(optimum(network).allgather, (Fraction{9, 16}));
  network.links.front().bytes_per_second = 1e-30;
  test::expect_error([&] { (void)optimum(network); }, ErrorCode::unsupported, "common divisor");
}

TEST(Optimum, RejectsASingleRank) {
  test::expect_error([] { (void)optimum(generate("star:p=1")); }, ErrorCode::invalid_argument,
                     "a network of one rank");
}

TEST(Optimum, IsFoundInTime) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(optimum(generate("fat_tree:k=8,bandwidth=1B/s")).allgather, (Fraction{128, 127}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // About 0.1 s on an idle machine.
  EXPECT_LT(took.count(), 10);
}

TEST(Optimum, FractionsOmitTheDenominatorOne) {
  EXPECT_EQ(to_string(Fraction{64, 15}), "64/15");
  EXPECT_EQ(to_string(Fraction{4, 1}), "4");
}

}  // namespace
}  // namespace tutti
