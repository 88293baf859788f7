#include "sim/event_loop.hpp"

#include <string>

#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/sim/simulation.hpp>

#include "support/random.hpp"

namespace tutti {
namespace {

ScheduleSource source_of(const Algorithm& algorithm, std::uint32_t p) {
  const Problem problem{.ranks = p, .shape = algorithm.needs_shape() ? squarest(p) : Shape{}};
  return {.name = std::string(algorithm.name),
          .contract = algorithm.contract(problem),
          .program = [&algorithm, problem](Rank rank) { return algorithm.program(problem, rank); }};
}

/// Chunks of different sizes, some of them empty.
Layout uneven(const Contract& contract, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < contract.chunks; ++i) {
    sizes.push_back(random.below(4U) == 0 ? 0 : random.below(100'000U));
  }
  return Layout::counted(sizes);
}

/// Whether the path leads from time 0 to the end without a gap.
void expect_whole(const Simulation& simulation, const std::string& what) {
  double at = 0;
  for (const Activity& each : simulation.critical_path) {
    EXPECT_NEAR(each.begin, at, 1e-9 * simulation.seconds) << what;
    at = each.end;
  }
  EXPECT_NEAR(at, simulation.seconds, 1e-9 * simulation.seconds) << what;
}

/// Where nothing competes, times are computed without a queue. Recording over time needs the queue.
TEST(EventLoop, GivesTheSameTimesInOrderAndByTime) {
  for (const Algorithm& each : algorithms()) {
    for (const char* spec : {"star:8", "star:13", "ring:8", "fat_tree:4"}) {
      const Network network = generate(spec);
      const std::uint32_t p = network.rank_count();
      Routes routes(network);
      const ScheduleSource programs = source_of(each, p);
      for (const double noise : {0.0, 0.5}) {
        const std::string what = programs.name + " on " + spec + ", noise " + std::to_string(noise);
        const Layout layout = uneven(programs.contract, p);
        SimulationSettings settings{.alpha = 1e-6, .noise = noise, .symmetry = false};
        const Simulation in_order = simulate(network, routes, programs, layout, settings);
        settings.intervals = 4;
        const Simulation by_time = simulate(network, routes, programs, layout, settings);
        const double close = 1e-9 * by_time.seconds;
        EXPECT_NEAR(in_order.seconds, by_time.seconds, close) << what;
        EXPECT_EQ(in_order.messages, by_time.messages) << what;
        EXPECT_EQ(in_order.bytes, by_time.bytes) << what;
        for (std::uint32_t r = 0; r < p; ++r) {
          EXPECT_NEAR(in_order.finished[r], by_time.finished[r], close) << what;
        }
        for (std::size_t l = 0; l < network.links.size(); ++l) {
          EXPECT_NEAR(in_order.links[l].bytes, by_time.links[l].bytes, 1e-6) << what;
          EXPECT_NEAR(in_order.links[l].busy, by_time.links[l].busy, close) << what;
        }
        expect_whole(in_order, what);
        expect_whole(by_time, what);
      }
    }
  }
}

TEST(EventLoop, RefusesADeadlockInOrder) {
  const Network network = generate("star:2");
  Routes routes(network);
  // Each rank sends what it receives.
  const auto program = [](Rank rank) {
    const Rank other{1 - rank};
    Program steps(2);
    steps.receive(0, other, Chunk{0});
    steps.send(1, other, Chunk{0});
    return steps;
  };
  const ScheduleSource stuck{.name = "stuck",
                             .contract = algorithm("allreduce/ring").contract({.ranks = 2}),
                             .program = program};
  EXPECT_THROW((void)simulate(network, routes, stuck, even_layout(stuck.contract, 64), {}), Error);
}

}  // namespace
}  // namespace tutti
