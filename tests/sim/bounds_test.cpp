// No schedule is faster than the bounds of its network.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/sim/simulation.hpp>

#include "support/random.hpp"
#include "topology/limit_ports.hpp"

namespace tutti {
namespace {

Network random_network(test::Random& random) {
  Network network;
  network.name = "random";
  network.ranks_forward = true;
  const std::uint32_t ranks = 2 + random.below(6U);
  const std::uint32_t n = ranks + random.below(4U);
  for (std::uint32_t i = 0; i < n; ++i) {
    network.add(std::to_string(i), i < ranks ? NodeKind::rank : NodeKind::switch_);
  }
  const bool both_ways = !random.one_in(3);
  const auto link = [&](std::uint32_t a, std::uint32_t b) {
    const double rate = static_cast<double>(1 + random.below(random.one_in(4) ? 40U : 4U)) * 1e9;
    both_ways ? network.join(NodeId{a}, NodeId{b}, rate, 0)
              : network.add_link(NodeId{a}, NodeId{b}, rate, 0);
  };
  // A line or a cycle, so that all nodes are reachable, and a few links more.
  const bool cycle = !both_ways || random.one_in(2);
  for (std::uint32_t i = 0; i + (cycle ? 0 : 1) < n; ++i) link(i, (i + 1) % n);
  for (std::uint32_t i = random.below(n); i > 0; --i) {
    const std::uint32_t a = random.below(n);
    const std::uint32_t b = random.below(n);
    if (a != b) link(a, b);
  }
  return network;
}

std::vector<Problem> problems_for(const Algorithm& algorithm, std::uint32_t p) {
  if (!algorithm.needs_shape()) return {{.ranks = p}};
  std::vector<Problem> problems;
  for (std::uint32_t d = 1; d <= p; ++d) {
    const Problem problem{.ranks = p, .shape = {.dimensions = {d, p / d}}};
    if (p % d == 0 && algorithm.refusal(problem).empty()) problems.push_back(problem);
  }
  return problems;
}

Fraction rate_of(const Optimum& least, Collective collective) {
  if (collective == Collective::allgather) return least.allgather;
  return collective == Collective::allreduce ? least.allreduce : least.reduce_scatter;
}

/// The largest share that any algorithm of the table reaches of a bound for the same ports.
std::map<Collective, double> best_shares(int networks, std::uint64_t seed) {
  test::Random random(seed);
  std::map<Collective, double> best;
  for (int i = 0; i < networks; ++i) {
    const Network network = random_network(random);
    const std::array least{optimum(network), optimum(limit_ports(network, 1)),
                           optimum(limit_ports(network, 2))};
    Routes routes(network);
    for (const Collective collective :
         {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
      for (const Algorithm& each : algorithms(collective)) {
        for (const Problem& problem : problems_for(each, network.rank_count())) {
          const Schedule schedule = each.schedule(problem);
          constexpr std::uint64_t size = 840 << 10;
          const std::uint32_t ports = random.below(3U);
          const Simulation found =
              simulate(network, routes, source_of(schedule), even_layout(schedule.contract, size),
                       {.ports = ports, .slice = random.one_in(2) ? 0U : 20U << 10});
          const double rate = rate_of(least.at(ports), collective).value();
          const double share = static_cast<double>(size) / found.seconds / rate;
          EXPECT_LE(share, 1 + 1e-9) << each.name << " on network " << i << " of seed " << seed;
          best[collective] = std::max(best[collective], share);
        }
      }
    }
  }
  return best;
}

TEST(Bounds, NoAlgorithmOfTheTableIsFaster) {
  const auto best = best_shares(150, 1);
  // The bounds are not so low that the test says nothing.
  EXPECT_GT(best.at(Collective::allreduce), 0.9);
  EXPECT_GT(best.at(Collective::allgather), 0.99);
  EXPECT_GT(best.at(Collective::reduce_scatter), 0.99);
}

TEST(SlowBounds, NoAlgorithmOfTheTableIsFasterOnThousandsOfNetworks) { (void)best_shares(3000, 2); }

/// A line is reduced to its middle and back. This once counted as 160 % of an "optimum".
TEST(Bounds, AreReachedOnALine) {
  const Network network = generate("line:p=8,bandwidth=1GB/s,latency=0");
  const double rate = optimum(network).allreduce.value();
  Routes routes(network);
  const std::uint64_t size = 64 << 20;
  double best = 0;
  for (const Algorithm& each : algorithms(Collective::allreduce)) {
    if (each.needs_shape()) continue;
    const Schedule schedule = each.schedule({.ranks = 8});
    const Simulation found =
        simulate(network, routes, source_of(schedule), even_layout(schedule.contract, size),
                 {.ports = 0, .slice = 1 << 18});
    best = std::max(best, static_cast<double>(size) / found.seconds / rate);
  }
  EXPECT_LE(best, 1 + 1e-9);
  EXPECT_GT(best, 0.4);
}

/// Every schedule of a tiny allreduce in steps: in each step a link carries as many chunks as its
/// capacity says, each with one sum of contributions. Finds the least number of steps.
class AllSchedules {
 public:
  AllSchedules(const Network& network, std::uint32_t chunks) : network_(network), chunks_(chunks) {
    ranks_ = network.rank_count();
    all_ = (1U << ranks_) - 1;
  }

  std::uint32_t least_steps() {
    State first(ranks_ * chunks_);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t c = 0; c < chunks_; ++c) first[r * chunks_ + c] = {1U << r};
    }
    std::set<State> layer{first};
    for (std::uint32_t steps = 0; steps < 40; ++steps) {
      std::set<State> next;
      for (const State& state : layer) {
        if (is_done(state)) return steps;
        advance(state, state, 0, next);
      }
      layer = std::move(next);
    }
    return 0;
  }

 private:
  /// By rank and chunk: the sets of contributions whose sum the rank has.
  using State = std::vector<std::set<std::uint32_t>>;

  [[nodiscard]] bool is_done(const State& state) const {
    return std::all_of(state.begin(), state.end(),
                       [&](const auto& sums) { return sums.contains(all_); });
  }

  /// Adds what arrives, and every sum of disjoint sets.
  static void receive(std::set<std::uint32_t>& sums, std::uint32_t sum) {
    if (!sums.insert(sum).second) return;
    const std::vector<std::uint32_t> before(sums.begin(), sums.end());
    for (const std::uint32_t each : before) {
      if ((each & sum) == 0) receive(sums, each | sum);
    }
  }

  /// Every choice of what the links from `slot` on carry; a link of capacity c has c slots.
  void advance(const State& before, const State& after, std::uint32_t slot, std::set<State>& into) {
    std::uint32_t at = slot;
    for (const Link& link : network_.links) {
      const auto capacity = static_cast<std::uint32_t>(link.bytes_per_second);
      if (at >= capacity) {
        at -= capacity;
        continue;
      }
      bool is_useful = false;
      for (std::uint32_t c = 0; c < chunks_; ++c) {
        const auto& has = after[link.to.index() * chunks_ + c];
        for (const std::uint32_t sum : before[link.from.index() * chunks_ + c]) {
          if (has.contains(sum)) continue;
          State next = after;
          receive(next[link.to.index() * chunks_ + c], sum);
          advance(before, next, slot + 1, into);
          is_useful = true;
        }
      }
      // An idle link never helps: ranks may hold any number of sums.
      if (!is_useful) advance(before, after, slot + 1, into);
      return;
    }
    into.insert(after);
  }

  const Network& network_;
  std::uint32_t chunks_;
  std::uint32_t ranks_ = 0;
  std::uint32_t all_ = 0;
};

TEST(Bounds, NoScheduleOfATinyNetworkIsFaster) {
  test::Random random(5);
  int reached = 0;
  for (int i = 0; i < 24; ++i) {
    Network network;
    network.ranks_forward = true;
    const std::uint32_t ranks = 2 + random.below(2U);
    for (std::uint32_t r = 0; r < ranks; ++r) network.add(std::to_string(r), NodeKind::rank);
    // A line both ways, or a cycle one way, of capacities 1 and 2.
    const bool line = random.one_in(2);
    for (std::uint32_t r = 0; r + (line ? 1 : 0) < ranks; ++r) {
      const auto rate = static_cast<double>(1 + random.below(2U));
      const NodeId from{r};
      const NodeId to{(r + 1) % ranks};
      line ? network.join(from, to, rate, 0) : network.add_link(from, to, rate, 0);
    }
    for (const std::uint32_t chunks : {1U, 2U}) {
      const std::uint32_t steps = AllSchedules(network, chunks).least_steps();
      ASSERT_GT(steps, 0U);
      const double share = chunks / optimum(network).allreduce.value() / steps;
      EXPECT_LE(share, 1 + 1e-9) << i << " with " << chunks << " chunks";
      reached += share > 0.99 ? 1 : 0;
    }
  }
  EXPECT_GT(reached, 4);
}

}  // namespace
}  // namespace tutti
