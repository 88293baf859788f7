#include "sim/symmetry.hpp"

#include <bit>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti {
namespace {

ScheduleSource source(const Algorithm& algorithm, const Problem& problem, bool one_rule) {
  return {.name = std::string(algorithm.name),
          .contract = algorithm.contract(problem),
          .program = [&algorithm, problem](Rank rank) { return algorithm.program(problem, rank); },
          .one_rule = one_rule};
}

Problem problem_of(const Algorithm& algorithm, std::uint32_t p) {
  return {.ranks = p, .shape = algorithm.needs_shape() ? squarest(p) : Shape{}};
}

TEST(Symmetry, SampleAgreesWithAllRanks) {
  int turning = 0;
  for (const Algorithm& each : algorithms()) {
    for (std::uint32_t p = 2; p <= 70; ++p) {
      const ScheduleSource programs = source(each, problem_of(each, p), true);
      const bool some = programs_turn(programs, true);
      EXPECT_EQ(some, programs_turn(programs, false)) << each.name << " p=" << p;
      turning += some ? 1 : 0;
    }
  }
  EXPECT_GT(turning, 5 * 69);
}

TEST(Symmetry, FindsThatOfARing) {
  const ScheduleSource ring = source(algorithm("allreduce/ring"), {.ranks = 12}, true);
  EXPECT_TRUE(programs_turn(ring, false));
  const ScheduleSource tree = source(algorithm("allreduce/binomial"), {.ranks = 12}, true);
  EXPECT_FALSE(programs_turn(tree, true));
}

void expect_same(const Simulation& one, const Simulation& all, const std::string& what,
                 double tolerance = 1e-9) {
  EXPECT_NEAR(one.seconds, all.seconds, tolerance * all.seconds) << what;
  EXPECT_EQ(one.messages, all.messages) << what;
  EXPECT_EQ(one.bytes, all.bytes) << what;
  ASSERT_EQ(one.finished.size(), all.finished.size()) << what;
  for (std::size_t r = 0; r < all.finished.size(); ++r) {
    EXPECT_NEAR(one.finished[r], all.finished[r], tolerance * all.seconds) << what;
  }
  ASSERT_EQ(one.links.size(), all.links.size()) << what;
  for (std::size_t l = 0; l < all.links.size(); ++l) {
    EXPECT_NEAR(one.links[l].bytes, all.links[l].bytes, 1e-9 * all.links[l].bytes + 1e-9) << what;
    EXPECT_NEAR(one.links[l].busy, all.links[l].busy, tolerance * all.seconds) << what;
  }
}

/// Wherever one rank is simulated for all, the result equals that of simulating all ranks.
TEST(Symmetry, GivesTheSameResultAsAllRanks) {
  int found = 0;
  for (const Algorithm& each : algorithms()) {
    for (const char* spec : {"star:", "ring:", "torus:", "hypercube:"}) {
      for (const std::uint32_t p : {2U, 4U, 7U, 8U, 16U, 32U}) {
        const std::string name = spec;
        if (name == "hypercube:" && (p & (p - 1)) != 0) continue;
        if (name == "ring:" && p < 3) continue;
        const std::string size =
            name == "hypercube:" ? std::to_string(std::countr_zero(p)) : std::to_string(p);
        const Network network = generate(name + size);
        Routes routes(network);
        const ScheduleSource programs = source(each, problem_of(each, p), true);
        const Layout layout = even_layout(programs.contract, 960 * std::uint64_t{p} * p);
        for (const std::uint32_t ports : {0U, 1U, 2U}) {
          // Its messages differ in length and wait for two ports. Where several ports become free
          // at the same moment, ranks need not all serve the same message next.
          if (each.name == "reduce_scatter/pat" && ports == 2) continue;
          SimulationSettings settings{.alpha = 1e-6, .gamma = 1e-10, .ports = ports};
          const Simulation one = simulate(network, routes, programs, layout, settings);
          if (!one.by_symmetry) continue;
          ++found;
          settings.symmetry = false;
          const Simulation all = simulate(network, routes, programs, layout, settings);
          EXPECT_FALSE(all.by_symmetry);
          expect_same(
              one, all,
              std::string(each.name) + " on " + network.name + ", ports " + std::to_string(ports));
        }
      }
    }
  }
  EXPECT_GT(found, 100);
}

/// A ring on a torus does not turn by one rank: the end of a row is two links from the next row. It
/// turns by a row.
TEST(Symmetry, OfRowsIsFoundIfThereAreManyMessages) {
  int found = 0;
  for (const char* const name : {"allreduce/ring", "allgather/ring", "alltoall/pairwise",
                                 "alltoall/mesh", "allgather/mesh", "allreduce/bidirectional_ring",
                                 "reduce_scatter/ring", "alltoall/bruck", "allreduce/mesh"}) {
    for (const char* const spec : {"torus:12x12", "torus:16x8", "torus:5x5x5", "fat_tree:k=8",
                                   "multi_rail:nodes=16,gpus=8"}) {
      const Network network = generate(spec);
      Routes routes(network);
      const std::uint32_t p = network.rank_count();
      const ScheduleSource programs = source(algorithm(name), {.ranks = p}, true);
      const Layout layout = even_layout(programs.contract, 96 * std::uint64_t{p} * p);
      for (const std::uint32_t ports : {0U, 1U}) {
        SimulationSettings settings{.ports = ports};
        const Simulation few = simulate(network, routes, programs, layout, settings);
        // It has few steps, but each is for all other ranks.
        if (programs.name == "allreduce/mesh" && network.name == "torus:12x12") {
          EXPECT_TRUE(few.by_symmetry);
        }
        if (!few.by_symmetry || few.simulated_ranks == 1) continue;
        ++found;
        settings.symmetry = false;
        // Where links are shared, rounding errors make ranks differ, and the differences grow.
        expect_same(few, simulate(network, routes, programs, layout, settings),
                    std::string(name) + " on " + spec + ", ports " + std::to_string(ports), 0.02);
      }
    }
  }
  EXPECT_GT(found, 10);
}

TEST(Symmetry, CountsTheFlowsThatShareALink) {
  // All messages pass one link.
  Network network;
  network.name = "bridge";
  for (int r = 0; r < 6; ++r) network.add("r" + std::to_string(r), NodeKind::rank);
  const NodeId in = network.add("in", NodeKind::switch_);
  const NodeId out = network.add("out", NodeKind::switch_);
  network.add_link(in, out, 3e9, 1e-6);
  for (const NodeId rank : network.ranks) {
    network.add_link(rank, in, 1e9, 1e-6);
    network.add_link(out, rank, 1e9, 1e-6);
  }
  Routes routes(network);
  const ScheduleSource ring = source(algorithm("allreduce/ring"), {.ranks = 6}, true);
  const Layout layout = even_layout(ring.contract, 6000);
  const Simulation one = simulate(network, routes, ring, layout);
  EXPECT_TRUE(one.by_symmetry);
  EXPECT_NEAR(one.seconds, 10 * (3e-6 + 6 * 1000 / 3e9), 1e-12);
  expect_same(one, simulate(network, routes, ring, layout, {.symmetry = false}), "bridge");
}

TEST(Symmetry, ComparesEveryRankOfSchedulesFromFiles) {
  Schedule ring = algorithm("allgather/ring").schedule({.ranks = 64});
  // One rank that is in no sample sends its first block twice as often.
  EXPECT_TRUE(programs_turn(source_of(ring), false));
  Program other(ring.programs[37].rounds());
  for (Step step : ring.programs[37]) {
    if (step.kind == Step::Kind::receive) step.own.reset();
    if (step.round == 5) step.round = 6;
    other.append(step);
  }
  ring.programs[37] = other;
  EXPECT_FALSE(source_of(ring).one_rule);
  EXPECT_FALSE(programs_turn(source_of(ring), false));
}

TEST(Symmetry, RequiresEqualChunksAndLinks) {
  const ScheduleSource ring = source(algorithm("allreduce/ring"), {.ranks = 8}, true);
  Network network = generate("star:8");
  Routes routes(network);
  const Layout even = even_layout(ring.contract, 800);
  EXPECT_TRUE(simulate(network, routes, ring, even).by_symmetry);
  EXPECT_FALSE(simulate(network, routes, ring, even_layout(ring.contract, 801)).by_symmetry);
  EXPECT_FALSE(simulate(network, routes, ring, even, {.noise = 0.1}).by_symmetry);
  network.links[5].bytes_per_second /= 2;
  EXPECT_FALSE(simulate(network, routes, ring, even).by_symmetry);
}

TEST(SlowSymmetry, RingOf65536RanksMatchesItsFormula) {
  const std::uint32_t p = 65536;
  const Network network = generate("star:p=65536,bandwidth=12.5GB/s,latency=1us");
  Routes routes(network);
  const ScheduleSource ring = source(algorithm("allreduce/ring"), {.ranks = p}, true);
  const Simulation found =
      simulate(network, routes, ring, even_layout(ring.contract, std::uint64_t{64} << 20));
  EXPECT_TRUE(found.by_symmetry);
  EXPECT_EQ(found.messages, 2 * std::uint64_t{p} * (p - 1));
  const double expected = 2.0 * (p - 1) * (2e-6 + 1024 / 12.5e9);
  EXPECT_NEAR(found.seconds, expected, 1e-9 * expected);
}

}  // namespace
}  // namespace tutti
