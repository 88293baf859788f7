#include <algorithm>
#include <chrono>
#include <numeric>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/ring_order.hpp>

#include "support/errors.hpp"
#include "support/random.hpp"

namespace tutti {
namespace {

PairTimes random_times(test::Random& random, std::uint32_t ranks, std::uint32_t values) {
  std::vector<double> seconds(std::size_t{ranks} * ranks);
  for (double& each : seconds) each = static_cast<double>(1 + random.below(values));
  return {ranks, std::move(seconds)};
}

void expect_each_once(const RingOrder& order, std::uint32_t ranks) {
  std::vector<Rank> sorted = order.ranks;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted.size(), ranks);
  for (std::uint32_t i = 0; i < ranks; ++i) EXPECT_EQ(sorted[i], i);
  EXPECT_EQ(order.ranks.front(), Rank{0});
}

/// The least cost over all orders.
template <class F>
RingCost by_all_orders(std::uint32_t ranks, F cost) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.emplace_back(i);
  RingCost least = cost(order);
  while (std::next_permutation(order.begin() + 1, order.end()))
    least = std::min(least, cost(order));
  return least;
}

void expect_equal(const RingCost& a, const RingCost& b) {
  EXPECT_EQ(a.slowest, b.slowest);
  EXPECT_DOUBLE_EQ(a.contention, b.contention);
  EXPECT_NEAR(a.sum, b.sum, 1e-9 * b.sum);
}

TEST(RingOrder, EqualsTheMinimumOverAllOrders) {
  test::Random random(5);
  for (std::uint32_t ranks = 1; ranks <= 8; ++ranks) {
    for (int round = 0; round < (ranks == 8 ? 5 : 20); ++round) {
      const PairTimes times = random_times(random, ranks, 1 + random.below(20U));
      const RingOrder found = order_ring(times);
      expect_each_once(found, ranks);
      EXPECT_TRUE(found.exact);
      expect_equal(found.cost, by_all_orders(ranks, [&](const auto& order) {
                     return ring_cost(times, order);
                   }));
    }
  }
}

TEST(RingOrder, EqualsTheMinimumOverAllOrdersOnNetworks) {
  for (const std::string spec :
       {"torus:3x2", "server:p=2,hosts=3", "dragonfly:g=3,a=1,p=2", "multi_rail:nodes=2,gpus=3",
        "hypercube:d=3", "ring:p=6", "full_mesh:p=5"}) {
    SCOPED_TRACE(spec);
    const Network network = generate(spec);
    Routes routes(network);
    const RingOrder found = order_ring(network, routes, 1 << 20);
    expect_each_once(found, network.rank_count());
    const RingCost least = by_all_orders(network.rank_count(), [&](const auto& order) {
      return ring_cost(network, routes, 1 << 20, order);
    });
    expect_equal(found.cost, least);
  }
}

TEST(RingOrder, IsNeverWorseThanTheGivenOrder) {
  test::Random random(6);
  for (int round = 0; round < 25; ++round) {
    const std::uint32_t ranks = 2 + random.below(60U);
    const PairTimes times = random_times(random, ranks, 2 + random.below(1000U));
    const RingOrder found = order_ring(times);
    expect_each_once(found, ranks);
    EXPECT_LE(found.cost, found.given);
    expect_equal(found.cost, ring_cost(times, found.ranks));
  }
}

/// A good ring with permuted ranks: the search must find edges as good as its own.
TEST(RingOrder, FindsAPermutedRing) {
  test::Random random(7);
  for (const std::uint32_t ranks : {10U, 40U, 200U}) {
    std::vector<std::uint32_t> hidden(ranks);
    std::iota(hidden.begin(), hidden.end(), 0);
    random.shuffle(hidden);
    // Ranks on a circle; the time grows with the distance.
    std::vector<double> seconds(std::size_t{ranks} * ranks);
    for (std::uint32_t a = 0; a < ranks; ++a) {
      for (std::uint32_t b = 0; b < ranks; ++b) {
        const std::uint32_t way = a > b ? a - b : b - a;
        seconds[std::size_t{hidden[a]} * ranks + hidden[b]] = std::min(way, ranks - way);
      }
    }
    const RingOrder found = order_ring(PairTimes(ranks, seconds));
    EXPECT_EQ(found.cost.slowest, 1) << ranks;
    EXPECT_EQ(found.cost.sum, ranks);
    EXPECT_GT(found.given.slowest, 1);
  }
}

/// By the sum alone, one very slow edge would be accepted for many fast ones.
TEST(RingOrder, MinimisesTheSlowestEdgeBeforeTheSum) {
  // The ring 0-1-2-3 is fast except for 3→0; all edges of 0-2-1-3 are alike, but their sum is
  // larger.
  const PairTimes times(4, {0, 1, 3, 9,  //
                            9, 0, 1, 3,  //
                            9, 3, 0, 1,  //
                            5, 9, 9, 0});
  const PairTimes fair(4, {0, 1, 4, 9,  //
                           9, 0, 1, 4,  //
                           9, 4, 0, 1,  //
                           9, 9, 9, 0});
  EXPECT_EQ(order_ring(times).cost, (RingCost{5, 0, 8}));
  EXPECT_EQ(order_ring(fair).cost.slowest, 9);
}

/// Ranks alternate between two hosts, so that every edge of the given ring crosses the NICs.
TEST(RingOrder, RelievesSharedLinks) {
  Network network;
  for (std::uint32_t r = 0; r < 16; ++r) network.add("r" + std::to_string(r), NodeKind::rank);
  const NodeId left = network.add("left", NodeKind::host);
  const NodeId right = network.add("right", NodeKind::host);
  for (std::uint32_t r = 0; r < 16; ++r) {
    network.join(network.ranks[r], r % 2 == 0 ? left : right, 1e9, 0);
  }
  network.join(left, right, 1e9, 0);
  Routes routes(network);
  const RingOrder found = order_ring(network, routes, 1'000'000);
  EXPECT_FALSE(found.exact);
  EXPECT_DOUBLE_EQ(found.given.contention, 8e-3);
  EXPECT_DOUBLE_EQ(found.cost.contention, 1e-3);
  EXPECT_EQ(found.cost.slowest, found.given.slowest);
}

/// The same with the ranks of a fat tree, a torus and GPU nodes shuffled.
TEST(RingOrder, FindsRingsWithoutContention) {
  test::Random random(8);
  for (const std::string spec : {"fat_tree:k=6", "torus:6x6", "multi_rail:nodes=6,gpus=8,nics=1"}) {
    SCOPED_TRACE(spec);
    Network network = generate(spec);
    network.wiring = {};
    for (Node& node : network.nodes) node.level = 0;
    random.shuffle(network.ranks);
    Routes routes(network);
    const RingOrder found = order_ring(network, routes, 1'000'000);
    double once = 0;
    for (const Link& link : network.links) once = std::max(once, 1e6 / link.bytes_per_second);
    EXPECT_DOUBLE_EQ(found.cost.contention, once);
    EXPECT_GT(found.given.contention, 2 * once);
  }
}

TEST(RingOrder, OrdersAThousandRanksInTime) {
  test::Random random(9);
  const PairTimes times = random_times(random, 1024, 1000);
  const auto begin = std::chrono::steady_clock::now();
  const RingOrder found = order_ring(times);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  expect_each_once(found, 1024);
  // Each rank has 1023 edges with times from 1 to 1000, so a ring can avoid the slow ones.
  EXPECT_LT(found.cost.slowest, 50);
  // About 1.5 s on an idle machine.
  EXPECT_LT(took.count(), 20);
  RecordProperty("seconds", std::to_string(took.count()));
}

TEST(RingOrder, ReadsMeasuredMatrices) {
  const std::string bandwidths = "-, 1GB/s, 10GB/s\n1GB/s, , 10GB/s\n1e10, 1e10, 0\n";
  const PairTimes times = pair_times_from_csv(bandwidths, "", 1'000'000'000);
  EXPECT_DOUBLE_EQ(times(Rank{0}, Rank{1}), 1);
  EXPECT_DOUBLE_EQ(times(Rank{2}, Rank{1}), 0.1);
  const PairTimes late =
      pair_times_from_csv(bandwidths, "0,1ms,2ms\n1ms,0,2ms\n0.5,2ms,0\n", 1'000'000'000);
  EXPECT_DOUBLE_EQ(late(Rank{2}, Rank{0}), 0.6);
}

TEST(RingOrder, ErrorsNameTheLine) {
  const auto refused = [](const std::string& bandwidths, const std::string& latencies,
                          const std::string& part) {
    test::expect_error([&] { (void)pair_times_from_csv(bandwidths, latencies, 1); },
                       ErrorCode::invalid_argument, part);
  };
  refused("0,1\n1\n", "", "bandwidths, line 2: there are 1 values, but 2 lines");
  refused("0,1\nfast,0\n", "", "bandwidths, line 2: 'fast' is not a bandwidth");
  refused("0,1\n0,0\n", "", "bandwidths, line 2: a bandwidth is 0");
  for (const std::string each : {"-1", "nan", "inf", "-inf"}) {
    const std::string why = "is '" + each + "': it must be finite and not negative";
    refused("0,1\n" + each + ",0\n", "", "bandwidths, line 2: value 1 " + why);
    refused("0,1\n1,0\n", "0," + each + "\n1,0\n", "latencies, line 1: value 2 " + why);
  }
  refused("0,1\n1e-310,0\n", "", "the time from rank 1 to rank 0 is inf s");
  refused("\n", "", "bandwidths: there are no values");
  refused("0,1\n1,0\n", "0\n", "for 2 ranks, but the latencies are for 1");
  refused("0,1\n1,0\n", "0,x\n1,0", "latencies, line 1");
  const PairTimes two(2, {0, 1, 1, 0});
  const auto order_refused = [&](std::vector<Rank> order, const std::string& part) {
    test::expect_error([&] { (void)ring_cost(two, order); }, ErrorCode::invalid_argument, part);
  };
  order_refused({Rank{0}, Rank{0}}, "rank 0 is twice");
  order_refused({Rank{0}}, "the order has 1 of 2");
}

}  // namespace
}  // namespace tutti
