// The examples and exercises of lecture notes on collective communication, with their answers.
#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/crossover.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/verify.hpp>

namespace tutti {
namespace {

double seconds(const char* name, const Problem& problem, std::uint64_t n, const CostModel& model) {
  const Schedule schedule = algorithm(name).schedule(problem);
  return Pricer(schedule).price(even_layout(schedule.contract, n), model, Ports::one).seconds;
}

std::uint64_t ring_overtakes_tree(std::uint32_t p, const LinkCost& link) {
  const Problem problem{.ranks = p};
  const Crossover found = crossover(algorithm("allreduce/ring").schedule(problem),
                                    algorithm("allreduce/binomial").schedule(problem),
                                    {.link = link}, Ports::one, 1, std::uint64_t{1} << 40);
  return found.size.value_or(0);
}

/// n* = α/β·(2(p−1) − 2 log p) / (2 log p − 2(p−1)/p), for p a power of two.
double by_formula(double p, double log_p, const LinkCost& link) {
  return link.alpha / link.beta * (2 * (p - 1) - 2 * log_p) / (2 * log_p - 2 * (p - 1) / p);
}

TEST(Exercise, RingOvertakesTreeOf64RanksNear1MegaByte) {
  // The notes round the formula to 1.28 MB; without rounding it is 1.136 MB.
  const LinkCost link{.alpha = 1e-6, .beta = 1 / 100e9};
  const double expected = by_formula(64, 6, link);
  EXPECT_NEAR(expected, 1.1364e6, 100);
  EXPECT_NEAR(static_cast<double>(ring_overtakes_tree(64, link)), expected, 64);
}

TEST(Exercise, RingOvertakesTreeOf256RanksAt35MegaBytes) {
  const LinkCost link{.alpha = 5e-6, .beta = 1 / 200e9};
  const double expected = by_formula(256, 8, link);
  EXPECT_NEAR(expected, 35.27e6, 1e4);
  EXPECT_NEAR(static_cast<double>(ring_overtakes_tree(256, link)), expected, 256);
}

TEST(Exercise, TwoLevelsOfRingsBeatAFlatRingOn8NodesOf8) {
  // 600 GB/s inside a node, 100 GB/s between nodes, 1 GB. Every step of the flat ring waits for the
  // slow links. With two levels only an eighth of the data crosses them.
  const CostModel model{.link = {.alpha = 0, .beta = 1 / 100e9},
                        .ranks_per_node = 8,
                        .inside = {.alpha = 0, .beta = 1 / 600e9}};
  const std::uint64_t n = 1024000000;
  const double flat = seconds("allreduce/ring", {.ranks = 64}, n, model);
  const double nested = seconds("allreduce/ring_ring", {.ranks = 64, .shape = {{8, 8}}}, n, model);
  EXPECT_NEAR(flat, 2 * 63.0 / 64 * n / 100e9, 1e-9);
  EXPECT_NEAR(nested, 2 * 7.0 / 8 * n / 600e9 + 2 * 7.0 / 8 * (n / 8.0) / 100e9, 1e-9);
  EXPECT_NEAR(flat / nested, 3.857, 1e-3);
}

TEST(Exercise, BucketsOf25MegaBytesSaveTheLatencyOf960Calls) {
  // 1000 tensors of 1 MB one by one, or 40 buckets of 25 MB. The bytes are the same; the latency of
  // 960 rings is saved.
  const CostModel model{.link = {.alpha = 10e-6, .beta = 1 / 100e9}};
  for (const std::uint32_t p : {4U, 8U, 64U}) {
    const Problem problem{.ranks = p};
    const double single = 1000 * seconds("allreduce/ring", problem, 1000000, model);
    const double bucketed = 40 * seconds("allreduce/ring", problem, 25000000, model);
    EXPECT_NEAR(single - bucketed, 960 * 2 * (p - 1) * 10e-6, 1e-6 * single) << p;
  }
}

TEST(Exercise, HalvingDoublingWorksFor6Ranks) {
  const Schedule schedule = algorithm("allreduce/halving_doubling").schedule({.ranks = 6});
  EXPECT_TRUE(verify(schedule).ok());
  EXPECT_EQ(schedule.rounds(), 6U);  // 2⌈log₂ 6⌉
  const Figures counted = count(schedule, even_layout(schedule.contract, 6000));
  EXPECT_EQ(counted.bytes, 2 * 5 * 6000U);  // As few bytes as a ring.
}

TEST(Exercise, BidirectionalRingHalvesTheStepsAndKeepsTheBytes) {
  for (std::uint32_t p = 2; p <= 33; ++p) {
    const std::uint64_t n = std::uint64_t{p} * 100;
    const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = p});
    const Schedule both = algorithm("allreduce/bidirectional_ring").schedule({.ranks = p});
    EXPECT_EQ(both.rounds(), 2 * (p / 2));  // ⌈(p−1)/2⌉ in each phase.
    EXPECT_EQ(count(both, even_layout(both.contract, n)).most_sent,
              count(ring, even_layout(ring.contract, n)).most_sent);
  }
}

/// Both directions carry the same, so a phase takes half of the (p−1)/p·nβ of one direction.
TEST(Exercise, BidirectionalRingLoadsBothDirectionsEqually) {
  for (std::uint32_t p = 3; p <= 33; ++p) {
    const std::uint64_t n = std::uint64_t{p} * 100;
    for (const char* name : {"allgather/bidirectional_ring", "reduce_scatter/bidirectional_ring"}) {
      const Schedule both = algorithm(name).schedule({.ranks = p});
      const CostModel only_bytes{.link = {.alpha = 0, .beta = 1}};
      EXPECT_NEAR(
          Pricer(both).price(even_layout(both.contract, n), only_bytes, Ports::unlimited).seconds,
          (p - 1) * 100 / 2.0, 1e-9)
          << name << " p=" << p;
    }
  }
}

}  // namespace
}  // namespace tutti
