#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/verify.hpp>
#include <tutti/sim/simulation.hpp>
#include <tutti/synthesis/synthesis.hpp>

#include "support/errors.hpp"
#include "synthesis/networks.hpp"
#include "synthesis/random_networks.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// Proves the schedule and simulates it; only links set limits.
double proved_and_simulated(const Synthesis& made, Network network, std::uint64_t bytes) {
  const Verification verdict = verify(made.schedule);
  EXPECT_TRUE(verdict.ok()) << made.schedule.name << ": " << verdict.violations.front().message;
  if (!verdict.ok()) return 0;
  network.own_routes = made.routes;
  Routes routes(network);
  return simulate(network, routes, source_of(made.schedule),
                  even_layout(made.schedule.contract, bytes), {.ports = 0, .in_order = true})
      .seconds;
}

double part_of_best(const Network& network, Collective collective,
                    SynthesisMethod method = SynthesisMethod::packing) {
  const Synthesis made = synthesize(network, collective, {.method = method});
  return made.best_seconds / proved_and_simulated(made, network, gibibyte);
}

struct BoundCase {
  const char* description;
  Network network;
};

std::vector<BoundCase> networks_with_known_bounds() {
  return {{"torus:4x4", generate("torus:4x4")},   {"torus:8x8", generate("torus:8x8")},
          {"fat_tree", generate("fat_tree:k=4")}, {"dragonfly", generate("dragonfly:g=9,a=4,p=2")},
          {"two A100 boxes", two_a100_boxes()},   {"DGX-1", dgx1()}};
}

TEST(Synthesis, AllgatherAttainsTheBound) {
  for (const BoundCase& each : networks_with_known_bounds()) {
    SCOPED_TRACE(each.description);
    const double part = part_of_best(each.network, Collective::allgather);
    EXPECT_GE(part, 0.99);
    EXPECT_LE(part, 1.0001);
  }
}

TEST(Synthesis, AllreduceAttainsTheBestComposition) {
  for (const BoundCase& each : networks_with_known_bounds()) {
    SCOPED_TRACE(each.description);
    const double part = part_of_best(each.network, Collective::allreduce);
    // Where edges share links, the allgather begins while parts of the reduce_scatter are still
    // under way and takes bandwidth from them.
    const bool shares = std::string(each.description) == "two A100 boxes";
    EXPECT_GE(part, shares ? 0.75 : 0.99);
    EXPECT_LE(part, 1.0001);
  }
}

TEST(Synthesis, OtherCollectivesAttainTheBound) {
  for (const Collective collective :
       {Collective::broadcast, Collective::reduce, Collective::reduce_scatter}) {
    SCOPED_TRACE(name(collective));
    EXPECT_GE(part_of_best(generate("torus:4x4"), collective), 0.98);
    EXPECT_GE(part_of_best(dgx1(), collective), 0.98);
  }
}

TEST(Synthesis, BestTimeOfAnAllgatherIsThatOfTheOptimum) {
  for (const BoundCase& each : networks_with_known_bounds()) {
    const Synthesis made = synthesize(each.network, Collective::allgather, {.chunks = 1});
    EXPECT_NEAR(made.best_seconds * optimum(each.network).allgather.value(), double{gibibyte},
                1e-6 * gibibyte)
        << each.description;
  }
}

TEST(Synthesis, GreedyIsCloseToTheBoundOnALargeTorus) {
  EXPECT_GE(part_of_best(generate("torus:16x16"), Collective::allgather, SynthesisMethod::greedy),
            0.92);
}

TEST(Synthesis, RandomNetworksAreProvedAndNeverBelowTheBound) {
  // `./dev synthesis` tries 1,000 networks of up to 24 nodes.
  const char* const wanted = std::getenv("TUTTI_SEEDS");
  const std::uint64_t seeds = wanted == nullptr ? 60 : std::stoull(wanted);
  const std::uint32_t most_nodes = wanted == nullptr ? 12 : 24;
  std::vector<double> parts;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Network network = random_network(seed, most_nodes);
    SCOPED_TRACE(network.name);
    const auto collective =
        std::array{Collective::allgather, Collective::allreduce, Collective::broadcast}[seed % 3];
    const Synthesis made = synthesize(network, collective, {});
    const double seconds = proved_and_simulated(made, network, gibibyte);
    // An allreduce may beat the best composition, whose two halves do not overlap, but no schedule
    // beats the bound.
    const double least = collective == Collective::allreduce
                             ? static_cast<double>(gibibyte) / optimum(network).allreduce.value()
                             : made.best_seconds;
    EXPECT_GE(seconds, least * (1 - 1e-6));
    parts.push_back(made.best_seconds / seconds);
  }
  std::sort(parts.begin(), parts.end());
  EXPECT_GE(parts[seeds / 2], 0.9);
  if (wanted == nullptr) return;
  std::printf(
      "%llu random networks: share of the best, median %.1f %%, tenth percentile %.1f %%, "
      "least %.1f %%\n",
      static_cast<unsigned long long>(seeds), 100 * parts[seeds / 2], 100 * parts[seeds / 10],
      100 * parts.front());
}

/// SCCL's table for the DGX-1 (Cai et al., 2021, table 4): C chunks in C + 1 steps.
TEST(Synthesis, ExhaustiveSearchFindsTheStepsOfTheDgx1) {
  for (const std::uint32_t chunks : {1U, 2U}) {
    const Synthesis made = synthesize(dgx1(), Collective::allgather,
                                      {.method = SynthesisMethod::exhaustive, .chunks = chunks});
    EXPECT_EQ(made.schedule.rounds(), chunks + 1);
    EXPECT_TRUE(verify(made.schedule).ok());
  }
}

/// No method needs fewer rounds than the exhaustive search, since each link carries the same number
/// of chunks in a round.
TEST(Synthesis, NoMethodNeedsFewerRoundsThanTheExhaustiveSearch) {
  for (const char* const spec : {"ring:5", "torus:2x3", "full_mesh:4", "hypercube:d=2"}) {
    const Network network = generate(spec);
    for (const std::uint32_t chunks : {1U, 2U}) {
      const auto rounds = [&](SynthesisMethod method) {
        return synthesize(network, Collective::allgather, {.method = method, .chunks = chunks})
            .schedule.rounds();
      };
      EXPECT_LE(rounds(SynthesisMethod::exhaustive), rounds(SynthesisMethod::greedy)) << spec;
    }
  }
}

TEST(Synthesis, TheRootSendsTheBroadcast) {
  const Synthesis made =
      synthesize(generate("ring:5"), Collective::broadcast, {.root = Rank{3}, .chunks = 4});
  EXPECT_EQ(made.schedule.contract.root, Rank{3});
  EXPECT_EQ(made.schedule.contract.chunks % 4, 0U);
  EXPECT_TRUE(verify(made.schedule).ok());
}

TEST(Synthesis, StopsWhenTheCallerWantsTo) {
  expect_error(
      [] {
        (void)synthesize(generate("torus:8x8"), Collective::allgather,
                         {.progress = [](double) { return false; }});
      },
      ErrorCode::aborted, "stopped");
}

TEST(Synthesis, FallsBackToTheGreedyWhenTimeRunsOut) {
  const Synthesis made = synthesize(dgx1(), Collective::allgather, {.seconds = 1e-9});
  EXPECT_EQ(made.method, SynthesisMethod::greedy);
  EXPECT_TRUE(verify(made.schedule).ok());
}

TEST(Synthesis, RefusesWhatItCannotDo) {
  const Network torus = generate("torus:4x4");
  expect_error([&] { (void)synthesize(torus, Collective::alltoall); }, ErrorCode::unsupported,
               "not for alltoall");
  expect_error([&] { (void)synthesize(torus, Collective::broadcast, {.root = Rank{16}}); },
               ErrorCode::invalid_argument, "no rank 16");
  expect_error([&] { (void)synthesize(generate("star:1"), Collective::broadcast); },
               ErrorCode::invalid_argument, "one rank");
  expect_error([&] { (void)synthesize(generate("star:5000"), Collective::allgather); },
               ErrorCode::unsupported, "too large");
  Network apart = torus;
  apart.links.clear();
  expect_error([&] { (void)synthesize(apart, Collective::allgather); }, ErrorCode::invalid_argument,
               "path");
  expect_error([&] { (void)parse_synthesis_method("gready"); }, ErrorCode::invalid_argument,
               "greedy");
}

}  // namespace
}  // namespace tutti::test
