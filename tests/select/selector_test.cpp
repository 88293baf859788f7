#include "select/selector.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include <tutti/network/network_file.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "select/forecast_cache.hpp"
#include "select/natural_shapes.hpp"
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

/// Counting the messages of an algorithm without a closed form would delay the first call.
TEST(Selector, DoesNotCountTheMessagesOfManyRanks) {
  const Algorithm& counted = algorithm("allreduce/swing");
  ASSERT_EQ(find_closed_form(counted.name), nullptr);
  Profile profile = plain_profile();
  profile.measurements.push_back({.algorithm = std::string(counted.name),
                                  .ranks = 64,
                                  .cores = 64,
                                  .points = {{.bytes = 8, .seconds = 1e-12}}});
  Selector few = selector(profile, "", 32);
  EXPECT_EQ(chosen(few, Collective::allreduce, 8), counted.name);
  Selector many = selector(profile, "", 64);
  EXPECT_NE(chosen(many, Collective::allreduce, 8), counted.name);
  Selector told = selector(profile, "allreduce:swing", 64);
  EXPECT_EQ(chosen(told, Collective::allreduce, 8), counted.name);
}

/// Ranks of several hosts, one each, whose links cost what plain_profile() says.
Selector between_hosts(std::uint32_t ranks) {
  Profile profile = plain_profile();
  profile.reaches.front().reach.pairs = Pairs::network;
  return {forecast(profile, {.ranks = ranks,
                             .cores = ranks,
                             .reach = {.pairs = Pairs::network},
                             .hosts = {.dimensions = {1, ranks}}}),
          {}};
}

/// For long data the bytes decide, and many algorithms move equally few. That messages compete for
/// the link of their receiver is not in the model.
TEST(Selector, PrefersFewFlowsWhereTheModelTies) {
  constexpr std::uint64_t bytes = 1 << 26;
  Selector network = between_hosts(4);
  Selector host = selector(plain_profile(), "", 4);
  EXPECT_EQ(chosen(network, Collective::allreduce, bytes), "allreduce/ring");
  EXPECT_EQ(chosen(host, Collective::allreduce, bytes), "allreduce/mesh_two_shot");
  EXPECT_EQ(chosen(network, Collective::alltoall, bytes), "alltoall/pairwise");
  EXPECT_EQ(chosen(host, Collective::alltoall, bytes), "alltoall/mesh");
  EXPECT_EQ(chosen(network, Collective::allreduce, 8), "allreduce/mesh")
      << "for short data the rounds decide";
}

TEST(Selector, CountsFlows) {
  const auto flows = [&](const char* name) {
    return forecast(plain_profile(), on_one_host(4))->flows(algorithm(name), {.ranks = 4}, 1 << 20);
  };
  EXPECT_EQ(flows("allreduce/ring"), (Flows{.at_once = 1, .peers = 1}));
  EXPECT_EQ(flows("allreduce/halving_doubling"), (Flows{.at_once = 1, .peers = 2}));
  EXPECT_EQ(flows("allreduce/mesh_two_shot"), (Flows{.at_once = 3, .peers = 3}));
  EXPECT_EQ(flows("alltoall/pairwise"), (Flows{.at_once = 1, .peers = 3}));
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
        selector.choose({.collective = Collective::broadcast, .bytes = 8, .root = root});
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
    EXPECT_FALSE(each.method.needs_counts()) << each.method.name();
  }
  Selector forced = selector(plain_profile(), "alltoall:bruck");
  EXPECT_EQ(chosen(forced, Collective::alltoall, 8), "alltoall/bruck");
  expect_error(
      [&] {
        (void)forced.choose({.collective = Collective::alltoall, .bytes = 8, .counted = true});
      },
      ErrorCode::unsupported, "TUTTI_ALGO");
}

TEST(Selector, TriesValuesOfParameters) {
  Selector tried = selector(plain_profile());
  std::set<std::string> names;
  for (const Candidate& each : tried.candidates({.collective = Collective::broadcast})) {
    names.insert(std::string(each.method.name()));
  }
  EXPECT_TRUE(names.contains("broadcast/chain"));
  EXPECT_TRUE(names.contains("broadcast/chain:segments=16"));
  EXPECT_TRUE(names.contains("broadcast/knomial:k=8"));
  Selector forced = selector(plain_profile(), "broadcast:chain:segments=7");
  EXPECT_EQ(chosen(forced, Collective::broadcast, 1 << 20), "broadcast/chain:segments=7");
}

/// The model alone may err, so what was measured is preferred to what was not.
TEST(Selector, PrefersMeasuredAlgorithmsIfMostWereMeasured) {
  Profile profile = plain_profile();
  for (const Algorithm& each : algorithms(Collective::broadcast)) {
    if (each.needs_shape() || each.name == "broadcast/flat") continue;
    profile.measurements.push_back({.algorithm = std::string(each.name),
                                    .reach = profile.reaches[0].reach,
                                    .ranks = 4,
                                    .cores = 4,
                                    .points = {{.bytes = 8, .seconds = 1}}});
  }
  Selector by_measurements = selector(profile);
  EXPECT_NE(chosen(by_measurements, Collective::broadcast, 8), "broadcast/flat");
  const auto ways = by_measurements.candidates({.collective = Collective::broadcast, .bytes = 8});
  const auto flat = std::ranges::find_if(
      ways, [](const Candidate& each) { return each.method.name() == "broadcast/flat"; });
  ASSERT_NE(flat, ways.end());
  EXPECT_TRUE(flat->expected.untried);
  EXPECT_LT(flat->expected.seconds, ways.front().expected.seconds);
  Selector by_rule = selector(profile, "broadcast:flat,chain");
  EXPECT_EQ(chosen(by_rule, Collective::broadcast, 8), "broadcast/flat");
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
                      .shapes = natural_shapes(*network),
                      .network = network};
    return Selector(forecast(plain_profile(), party), {});
  };
  // Eight hosts of eight ranks with one uplink each: only the traffic between hosts matters.
  Selector servers = on("multi_rail:nodes=8,gpus=8,inside=600GB/s,outside=100GB/s");
  EXPECT_TRUE(servers.choose({.collective = Collective::allreduce, .bytes = 1000000000})
                  .method.needs_shape());
  // Both use half of the links all the time.
  Selector torus = on("torus:8x8");
  const std::string_view best = chosen(torus, Collective::allreduce, 1 << 26);
  EXPECT_TRUE(best == "allreduce/torus" || best == "allreduce/bidirectional_ring") << best;
}

/// Two boxes of eight GPUs around a switch each, with a NIC for every GPU. No node is called a
/// host.
std::shared_ptr<const Network> two_boxes() {
  Network network;
  network.name = "two boxes";
  for (int r = 0; r < 16; ++r) network.add("gpu" + std::to_string(r), NodeKind::rank);
  const NodeId fabric = network.add("ib", NodeKind::switch_);
  for (std::uint32_t box = 0; box < 2; ++box) {
    const NodeId hub = network.add("nvswitch" + std::to_string(box), NodeKind::switch_);
    for (std::uint32_t r = 0; r < 8; ++r) {
      const NodeId gpu = network.ranks[8 * box + r];
      network.join(gpu, hub, 300e9, 0);
      const NodeId nic = network.add("nic" + std::to_string(8 * box + r), NodeKind::nic);
      network.join(gpu, nic, 25e9, 0);
      network.join(nic, fabric, 25e9, 0);
    }
  }
  return std::make_shared<const Network>(std::move(network));
}

TEST(Selector, FindsHierarchicalAlgorithmsWhateverNodesAreCalled) {
  const auto network = two_boxes();
  Selector boxes(forecast(plain_profile(), {.ranks = 16,
                                            .cores = 16,
                                            .reach = {.pairs = Pairs::network},
                                            .shapes = natural_shapes(*network),
                                            .network = network,
                                            .gamma = 0}),
                 {});
  const auto ways =
      boxes.candidates({.collective = Collective::allreduce, .bytes = std::uint64_t{1} << 30});
  const auto found = std::find_if(ways.begin(), ways.end(), [](const Candidate& each) {
    return each.method.name() == "allreduce/ring_ring" && to_string(each.shape) == "8x2";
  });
  ASSERT_NE(found, ways.end());
  const auto flat = std::find_if(ways.begin(), ways.end(), [](const Candidate& each) {
    return each.method.name() == "allreduce/ring";
  });
  EXPECT_LT(found->expected.seconds, 0.5 * flat->expected.seconds);
}

/// Without slices a chain would send everything from rank to rank, one after the other.
TEST(Selector, SimulatesWithTheSlicesOfTheExecutor) {
  auto network = std::make_shared<const Network>(load_network("star:8"));
  Selector star(forecast(plain_profile(), {.ranks = 8,
                                           .cores = 8,
                                           .reach = {.pairs = Pairs::network},
                                           .network = network,
                                           .gamma = 0}),
                {});
  const auto ways =
      star.candidates({.collective = Collective::broadcast, .bytes = std::uint64_t{64} << 20});
  const auto chain = std::find_if(ways.begin(), ways.end(), [](const Candidate& each) {
    return each.method.name() == "broadcast/chain";
  });
  ASSERT_NE(chain, ways.end());
  EXPECT_NEAR(chain->expected.seconds, (64 << 20) / 12.5e9, 0.1 * (64 << 20) / 12.5e9);
  EXPECT_LT(chain->expected.seconds, 1.1 * ways.front().expected.seconds);
}

TEST(Forecast, LengthensSlicesOfManyMessages) {
  const Schedule chain = algorithm("broadcast/chain").schedule({.ranks = 8});
  const Layout large = even_layout(chain.contract, std::uint64_t{64} << 20);
  EXPECT_EQ(simulated_slice(source_of(chain), large, 1 << 18), 1U << 18);
  const Layout huge = even_layout(chain.contract, std::uint64_t{64} << 30);
  EXPECT_GT(simulated_slice(source_of(chain), huge, 1 << 16), 1U << 20);
  const Schedule mesh = algorithm("alltoall/mesh").schedule({.ranks = 70});
  EXPECT_EQ(simulated_slice(source_of(mesh), even_layout(mesh.contract, 1 << 20), 1 << 16), 0U);
}

std::vector<std::string> shapes_of(const Network& network) {
  std::vector<std::string> shapes;
  for (const Shape& each : natural_shapes(network)) shapes.push_back(to_string(each));
  return shapes;
}

TEST(NaturalShapes, FollowLinksAndDistances) {
  using Shapes = std::vector<std::string>;
  EXPECT_EQ(shapes_of(load_network("torus:4x3x2")).front(), "4x3x2");
  EXPECT_EQ(shapes_of(load_network("grid:4x3")), (Shapes{"4x3"}));
  EXPECT_EQ(shapes_of(load_network("multi_rail:nodes=3,gpus=4")), (Shapes{"4x3"}));
  EXPECT_EQ(shapes_of(load_network("server:p=4,hosts=3")), (Shapes{"4x3"}));
  EXPECT_EQ(shapes_of(load_network("fat_tree:k=4")), (Shapes{"2x2x4", "2x8", "4x4"}));
  EXPECT_EQ(shapes_of(load_network("star:p=6")), Shapes{});
  EXPECT_EQ(shapes_of(load_network("full_mesh:p=6")), Shapes{});
  EXPECT_EQ(shapes_of(*two_boxes()), (Shapes{"8x2"}));
  // A torus that is not declared as one.
  Network torus = load_network("torus:4x3");
  torus.wiring = {};
  const Shapes found = shapes_of(torus);
  EXPECT_NE(std::find(found.begin(), found.end(), "4x3"), found.end());
}

TEST(NaturalShapes, FollowThePlacesOfRanks) {
  const auto network = two_boxes();
  std::vector<Rank> places;
  for (std::uint32_t r = 0; r < 16; ++r) places.emplace_back(r % 2 * 8 + r / 2);
  EXPECT_TRUE(natural_shapes(*network, places).empty());
  places.clear();
  for (std::uint32_t r = 0; r < 8; ++r) places.emplace_back(r + 4);
  const auto shapes = natural_shapes(*network, places);
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(to_string(shapes.front()), "4x2");
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
