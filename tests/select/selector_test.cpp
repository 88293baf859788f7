#include "select/selector.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <tutti/network/network_file.hpp>

#include "select/forecast_cache.hpp"
#include "support/errors.hpp"

namespace tutti {
namespace {

using test::expect_error;

/// A round costs a microsecond, a byte a nanosecond.
Profile plain_profile() {
  Rates rates;
  rates.seconds[Effort::rounds] = 1e-6;
  rates.seconds[Effort::bytes] = 1e-9;
  return {.reaches = {{.link = {.alpha = 1e-6, .beta = 1e-9},
                       .model = {.rates = {rates}},
                       .rooted_model = {.rates = {rates}}}}};
}

std::shared_ptr<const Forecast> forecast(const Profile& profile, const Party& party) {
  return ForecastCache(std::make_shared<const Profile>(profile)).get(party);
}

/// Ranks of one host, each with its own core.
Party on_one_host(std::uint32_t ranks) {
  return {.ranks = ranks, .cores = ranks, .hosts = {.dimensions = {ranks, 1}}};
}

Selector selector(const Profile& profile, const std::string& rules = "", std::uint32_t ranks = 8) {
  return {forecast(profile, on_one_host(ranks)), parse_algorithm_rules(rules, "TUTTI_ALGO")};
}

std::string_view chosen(Selector& selector, Collective collective, std::uint64_t bytes) {
  return selector.choose({.collective = collective, .bytes = bytes}).method.name();
}

TEST(Selector, PrefersFewRoundsForShortDataAndFewBytesForLong) {
  Selector by_model = selector(plain_profile());
  EXPECT_EQ(chosen(by_model, Collective::allreduce, 8), "allreduce/mesh");
  const Effort taken =
      effort(by_model.choose({.collective = Collective::allreduce, .bytes = 1 << 26}).method,
             {.ranks = 8}, 1 << 26, 8);
  EXPECT_NEAR(taken.counts[Effort::bytes], 2.0 * 7 / 8 * (1 << 26), 1);
}

TEST(Selector, PrefersMeasurementsToTheModel) {
  Profile profile = plain_profile();
  profile.measurements.push_back({.algorithm = "allreduce/ring",
                                  .ranks = 8,
                                  .cores = 8,
                                  .points = {{.bytes = 8, .seconds = 1e-9}}});
  Selector taught = selector(profile);
  EXPECT_EQ(chosen(taught, Collective::allreduce, 8), "allreduce/ring");
  const Candidate& ring = taught.choose({.collective = Collective::allreduce, .bytes = 8});
  EXPECT_TRUE(ring.expected.measured);
  EXPECT_NEAR(ring.expected.seconds, 1e-9, 1e-12);
  EXPECT_GT(ring.expected.modelled, 1e-6);
}

TEST(Forecast, InterpolatesBetweenSizesAndRanks) {
  Profile profile = plain_profile();
  const Algorithm& ring = algorithm("allreduce/ring");
  const auto modelled = [&](std::uint32_t ranks, std::uint64_t bytes) {
    return profile.reaches[0].model.seconds(effort(ring, {.ranks = ranks}, bytes, 16), bytes);
  };
  const auto measure = [&](std::uint32_t ranks, double small, double large) {
    profile.measurements.push_back(
        {.algorithm = "allreduce/ring",
         .ranks = ranks,
         .cores = 16,
         .points = {{.bytes = 1024, .seconds = small * modelled(ranks, 1024)},
                    {.bytes = 1 << 20, .seconds = large * modelled(ranks, 1 << 20)}}});
  };
  measure(4, 2, 8);
  measure(16, 4, 4);
  const auto factor = [&](std::uint32_t ranks, std::uint64_t bytes) {
    const Forecast forecast(profile, {.ranks = ranks, .cores = 16});
    const Expectation expected = forecast.expect(ring, {.ranks = ranks}, bytes);
    return expected.seconds / expected.modelled;
  };
  EXPECT_NEAR(factor(4, 1024), 2, 1e-9);
  EXPECT_NEAR(factor(4, 1 << 20), 8, 1e-9);
  EXPECT_NEAR(factor(4, 32768), 4, 1e-6);
  EXPECT_NEAR(factor(4, 8), 2, 1e-9);
  EXPECT_NEAR(factor(4, 1 << 26), 8, 1e-9);
  EXPECT_NEAR(factor(2, 1024), 2, 1e-9);
  EXPECT_NEAR(factor(64, 1024), 4, 1e-9);
  EXPECT_NEAR(factor(8, 1024), std::sqrt(8.0), 1e-9);
}

/// A curve that ends early looks better beyond its end than the curves that were continued.
TEST(Selector, AvoidsAlgorithmsGivenUpAtSmallerSizes) {
  Profile profile = plain_profile();
  const auto measure = [&](const char* algorithm, std::vector<Measurement::Point> points) {
    profile.measurements.push_back(
        {.algorithm = algorithm, .ranks = 8, .cores = 8, .points = std::move(points)});
  };
  measure("broadcast/flat", {{.bytes = 1 << 10, .seconds = 4e-6}});
  measure("broadcast/chain",
          {{.bytes = 1 << 10, .seconds = 1e-6}, {.bytes = 1 << 20, .seconds = 1}});
  Selector taught = selector(profile, "broadcast:flat,chain");
  EXPECT_EQ(chosen(taught, Collective::broadcast, 1 << 10), "broadcast/chain");
  EXPECT_EQ(chosen(taught, Collective::broadcast, 1 << 20), "broadcast/chain");
  const std::vector<Candidate> ways =
      taught.candidates({.collective = Collective::broadcast, .bytes = 1 << 20});
  EXPECT_LT(ways[1].expected.seconds, ways[0].expected.seconds);
  EXPECT_TRUE(ways[1].expected.given_up);
  EXPECT_FALSE(ways[0].expected.given_up);
}

TEST(Selector, FollowsRules) {
  Selector forced = selector(plain_profile(), "allreduce:ring@1KiB-,binomial@-1023");
  EXPECT_EQ(chosen(forced, Collective::allreduce, 8), "allreduce/binomial");
  EXPECT_EQ(chosen(forced, Collective::allreduce, 1023), "allreduce/binomial");
  EXPECT_EQ(chosen(forced, Collective::allreduce, 1024), "allreduce/ring");
  Selector without = selector(plain_profile(), "allreduce:^mesh");
  EXPECT_NE(chosen(without, Collective::allreduce, 8), "allreduce/mesh");
  Selector fastest = selector(plain_profile(), "allreduce:ring,mesh");
  EXPECT_EQ(chosen(fastest, Collective::allreduce, 8), "allreduce/mesh");
  EXPECT_EQ(chosen(fastest, Collective::allreduce, 1 << 26), "allreduce/ring");
}

/// A schedule named by a rule or a profile is a candidate if it fits.
TEST(Selector, ConsidersSchedules) {
  Schedule schedule = algorithm("allreduce/recursive_doubling").schedule({.ranks = 8});
  schedule.name = "mine";
  const ProvedSchedule mine = prove(schedule);
  const auto by_rule = [&](std::uint32_t ranks) {
    return Selector(forecast(plain_profile(), on_one_host(ranks)),
                    Rules(std::vector<Rule>{{.collective = Collective::allreduce,
                                             .methods = {mine, algorithm("allreduce/ring")},
                                             .source = "a rule"}}));
  };
  Selector eight = by_rule(8);
  EXPECT_EQ(chosen(eight, Collective::allreduce, 8), "mine");
  EXPECT_EQ(chosen(eight, Collective::allreduce, 1 << 26), "allreduce/ring");
  Selector seven = by_rule(7);
  EXPECT_EQ(chosen(seven, Collective::allreduce, 8), "allreduce/ring");

  Profile profile = plain_profile();
  profile.measurements.push_back({.algorithm = "file:mine.json",
                                  .schedule = mine,
                                  .ranks = 8,
                                  .cores = 8,
                                  .points = {{.bytes = 8, .seconds = 1e-9}}});
  Selector taught = selector(profile);
  const Candidate& best = taught.choose({.collective = Collective::allreduce, .bytes = 8});
  EXPECT_EQ(best.method.name(), "mine");
  EXPECT_TRUE(best.expected.measured);
  Selector forbidden = selector(profile, "allreduce:ring");
  EXPECT_EQ(chosen(forbidden, Collective::allreduce, 8), "allreduce/ring");
  Selector smaller = selector(profile, "", 4);
  EXPECT_NE(chosen(smaller, Collective::allreduce, 8), "mine");
}

TEST(Selector, MatchesTheRootOfSchedules) {
  Schedule schedule = algorithm("broadcast/chain").schedule({.ranks = 8, .root = Rank{3}});
  schedule.name = "mine";
  Selector selector(forecast(plain_profile(), on_one_host(8)),
                    Rules(std::vector<Rule>{{.collective = Collective::broadcast,
                                             .methods = {prove(schedule)},
                                             .source = "a rule"}}));
  for (const std::uint32_t root : {0U, 3U, 4U, 3U, 0U}) {
    const Candidate& best =
        selector.choose({.collective = Collective::broadcast, .bytes = 8, .root = Rank{root}});
    EXPECT_EQ(best.method.name() == "mine", root == 3) << root;
  }
}

TEST(Selector, ExplainsUnsatisfiableRules) {
  Selector none = selector(plain_profile(), "alltoall:^mesh,pairwise,bruck");
  expect_error([&] { (void)chosen(none, Collective::alltoall, 8); }, ErrorCode::unsupported,
               "TUTTI_ALGO");
}

/// Even if a rule names it: no rank knows the counts of the blocks that it forwards.
TEST(Selector, DoesNotForwardBlocksOfUnknownCounts) {
  Selector free = selector(plain_profile());
  for (const Candidate& each :
       free.candidates({.collective = Collective::alltoall, .counted = true})) {
    EXPECT_FALSE(each.method.traits().needs_counts) << each.method.name();
  }
  Selector forced = selector(plain_profile(), "alltoall:bruck");
  EXPECT_EQ(chosen(forced, Collective::alltoall, 8), "alltoall/bruck");
  expect_error(
      [&] {
        (void)forced.choose({.collective = Collective::alltoall, .bytes = 8, .counted = true});
      },
      ErrorCode::unsupported, "TUTTI_ALGO");
}

TEST(Selector, UsesHierarchiesForSeveralHosts) {
  Selector one_host = selector(plain_profile());
  for (const Candidate& each : one_host.candidates({.collective = Collective::allreduce})) {
    EXPECT_FALSE(each.method.needs_shape()) << each.method.name();
  }
  Profile profile = plain_profile();
  profile.reaches.push_back({.reach = {.pairs = Pairs::network},
                             .link = {.alpha = 5e-6, .beta = 1e-8},
                             .model = profile.reaches[0].model,
                             .rooted_model = profile.reaches[0].model});
  profile.reaches[0].link = {.alpha = 1e-7, .beta = 1e-11};
  Selector two_hosts(forecast(profile, {.ranks = 16,
                                        .cores = 16,
                                        .reach = {.pairs = Pairs::network},
                                        .hosts = {.dimensions = {8, 2}}}),
                     {});
  const Candidate& best = two_hosts.choose({.collective = Collective::allreduce, .bytes = 1 << 26});
  EXPECT_TRUE(best.method.needs_shape()) << best.method.name();
}

TEST(Selector, SimulatesOnAKnownNetwork) {
  const auto on = [](const std::string& spec) {
    auto network = std::make_shared<const Network>(load_network(spec));
    const Party party{.ranks = network->rank_count(),
                      .cores = network->rank_count(),
                      .reach = {.pairs = Pairs::network},
                      .hosts = natural_shape(*network),
                      .network = network};
    return Selector(forecast(plain_profile(), party), {});
  };
  // Eight hosts of eight ranks with one uplink each: only the traffic between hosts matters.
  Selector servers = on("multi_rail:nodes=8,gpus=8,inside=600GB/s,outside=100GB/s");
  EXPECT_EQ(servers.forecast().party().hosts, (Shape{.dimensions = {8, 8}}));
  EXPECT_TRUE(servers.choose({.collective = Collective::allreduce, .bytes = 1000000000})
                  .method.needs_shape());
  Selector torus = on("torus:8x8");
  EXPECT_EQ(chosen(torus, Collective::allreduce, 1 << 26), "allreduce/torus");
}

TEST(NaturalShape, FollowsTheWiringOrTheHosts) {
  const auto shape = [](const std::string& spec) {
    return to_string(natural_shape(load_network(spec)));
  };
  EXPECT_EQ(shape("torus:4x3x2"), "4x3x2");
  EXPECT_EQ(shape("multi_rail:nodes=3,gpus=4"), "4x3");
  EXPECT_EQ(shape("star:p=5"), "");
}

TEST(Selector, EveryCollectiveHasAChoiceForEveryNumberOfRanks) {
  for (const Collective collective : collectives()) {
    for (std::uint32_t ranks = 1; ranks <= 65; ++ranks) {
      Selector any = selector(built_in_profile(), "", ranks);
      for (std::uint64_t bytes = 0; bytes <= std::uint64_t{1} << 40; bytes = bytes * 7 + 1) {
        const Candidate& best = any.choose({.collective = collective, .bytes = bytes});
        EXPECT_EQ(best.method.collective(), collective);
        EXPECT_EQ(best.method.refusal({.ranks = ranks}), "");
      }
    }
  }
}

TEST(Selector, SharesDecisionsBetweenSimilarSizes) {
  Selector by_model = selector(plain_profile());
  const Candidate* const one =
      &by_model.choose({.collective = Collective::allreduce, .bytes = 1000});
  EXPECT_EQ(one, &by_model.choose({.collective = Collective::allreduce, .bytes = 1001}));
  EXPECT_NE(one, &by_model.choose({.collective = Collective::allreduce, .bytes = 2000}));
  EXPECT_NE(one, &by_model.choose({.collective = Collective::allgather, .bytes = 1000}));
}

TEST(Selector, ExcludesBruckForUnknownCounts) {
  Selector any = selector(plain_profile());
  for (const Candidate& each :
       any.candidates({.collective = Collective::alltoall, .bytes = 8, .counted = true})) {
    EXPECT_NE(each.method.name(), "alltoall/bruck");
  }
}

}  // namespace
}  // namespace tutti
