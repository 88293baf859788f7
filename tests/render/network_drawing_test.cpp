#include "render/network_drawing.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/stretch.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/sim/simulation.hpp>

#include "render/network_layout.hpp"
#include "render/timeline.hpp"
#include "render/traffic.hpp"
#include "support/drawing.hpp"
#include "support/errors.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"

namespace tutti::render {
namespace {

using test::fault_in_drawing;

std::string load_of(const std::string& spec, const std::string& name) {
  const Network network = generate(spec);
  Routes routes(network);
  const Schedule schedule = algorithm(name).schedule({.ranks = network.rank_count()});
  const Layout layout = even_layout(schedule.contract, 1 << 20);
  return draw_network(network, traffic_of(schedule, layout, network, routes),
                      {.title = name + " on " + spec, .lines = {"A line below the title."}});
}

/// The least distance between two nodes.
double nearest(const NetworkLayout& layout) {
  double least = INFINITY;
  for (std::size_t a = 0; a < layout.nodes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      least = std::min(least, std::hypot(layout.nodes[a].x - layout.nodes[b].x,
                                         layout.nodes[a].y - layout.nodes[b].y));
    }
  }
  return least;
}

/// Switches with random links, and one rank on each switch.
Network random_network(std::uint32_t switches, test::Random& random) {
  Network network{.name = "random"};
  std::vector<NodeId> all;
  for (std::uint32_t i = 0; i < switches; ++i) {
    all.push_back(network.add("s" + std::to_string(i), NodeKind::switch_));
    const NodeId rank = network.add("r" + std::to_string(i), NodeKind::rank);
    network.join(rank, all.back(), 1e9, 1e-6);
    if (i > 0) network.join(all.back(), all[random.below(i)], 1e9, 1e-6);
  }
  return network;
}

TEST(NetworkLayout, KeepsNodesApart) {
  for (const Generator& each : generators()) {
    SCOPED_TRACE(each.example);
    EXPECT_GT(nearest(lay_out(generate(each.example))), 0.9);
  }
  for (const std::string spec :
       {"torus:3x3x3", "torus:2x2x2x2", "torus:3x3x2x2x2", "torus:8", "hypercube:d=6", "star:p=100",
        "fat_tree:k=6", "server:p=1", "dragonfly:g=1,a=1,p=3", "full_mesh:p=2"}) {
    SCOPED_TRACE(spec);
    EXPECT_GT(nearest(lay_out(generate(spec))), 0.9);
  }
}

TEST(NetworkLayout, ForceDirectedLayoutIsSpreadOutAndDeterministic) {
  test::Random random(5);
  for (std::uint32_t switches = 1; switches < 60; switches += 7) {
    const Network network = random_network(switches, random);
    const NetworkLayout layout = lay_out(network);
    EXPECT_GE(nearest(layout), 0.99) << switches;
    EXPECT_EQ(lay_out(network).nodes, layout.nodes);
  }
}

TEST(NetworkLayout, DrawsATorusAsAGridWithBentWrapAroundLinks) {
  const Network network = generate("torus:4x3");
  const NetworkLayout layout = lay_out(network);
  const auto place = [&](std::uint32_t r) { return layout.nodes[network.ranks[r].index()]; };
  EXPECT_DOUBLE_EQ(place(0).y, place(3).y);
  EXPECT_DOUBLE_EQ(place(0).x, place(8).x);
  EXPECT_LT(place(0).x, place(1).x);
  std::size_t bent = 0;
  for (const Point& bend : layout.bends) bent += bend == Point{} ? 0 : 1;
  EXPECT_EQ(bent, 2 * (3 + 4));
}

TEST(Traffic, CountsBytesAndPairsOnEveryLink) {
  const Network network = generate("star:p=4");
  Routes routes(network);
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 4});
  const std::vector<LinkTraffic> traffic =
      traffic_of(schedule, even_layout(schedule.contract, 4000), network, routes);
  ASSERT_EQ(traffic.size(), 8);
  for (const LinkTraffic& each : traffic) {
    EXPECT_DOUBLE_EQ(each.bytes, 6000);  // 2(p−1)/p·n
    EXPECT_EQ(each.pairs.size(), 1);
  }
}

TEST(Traffic, RejectsANetworkThatIsTooSmall) {
  const Network network = generate("star:p=3");
  Routes routes(network);
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 4});
  test::expect_error([&] { (void)traffic_of(schedule, Layout::equal(4, 1), network, routes); },
                     ErrorCode::invalid_argument,
                     "the schedule is for 4 ranks, but star:p=3 has 3");
}

TEST(NetworkDrawing, TextsNeverOverlap) {
  for (const Generator& each : generators()) {
    SCOPED_TRACE(each.example);
    EXPECT_EQ(fault_in_drawing(load_of(std::string(each.example), "allreduce/ring")), "");
    const Network network = generate(each.example);
    EXPECT_EQ(fault_in_drawing(draw_network(network, {}, {.title = network.name})), "");
  }
  for (const std::string spec : {"torus:6x6x6", "torus:2x2x2x2", "hypercube:d=7", "star:p=200",
                                 "fat_tree:k=8", "server:p=1"}) {
    SCOPED_TRACE(spec);
    EXPECT_EQ(fault_in_drawing(load_of(spec, "allreduce/mesh")), "");
  }
}

TEST(NetworkDrawing, MarksBusyAndIdleLinks) {
  const std::string svg = load_of("torus:4x4", "allreduce/ring");
  EXPECT_NE(svg.find("heat-6-line load-6"), std::string::npos);
  EXPECT_NE(svg.find("heat-0-line load-0"), std::string::npos);
  EXPECT_NE(svg.find("; for 0 → 1"), std::string::npos);
}

TEST(NetworkDrawing, RejectsDrawingsThatAreTooLarge) {
  const Network network = generate("torus:32x32");
  test::expect_error([&] { (void)draw_network(network, {}, {.title = "large"}); },
                     ErrorCode::unsupported, "'torus:32x32' has 1024 nodes; at most 400");
}

TEST(NetworkDrawing, RingOnATorusGolden) {
  test::expect_golden("render/torus-load.svg", load_of("torus:4x3", "allreduce/ring"));
}

TEST(NetworkDrawing, FatTreeGolden) {
  test::expect_golden("render/fat-tree-load.svg", load_of("fat_tree:k=4", "allreduce/binomial"));
}

Simulation simulated(const Network& network, const std::string& name, std::uint32_t ports) {
  Routes routes(network);
  const Schedule schedule = algorithm(name).schedule({.ranks = network.rank_count()});
  return simulate(
      network, routes, source_of(schedule), even_layout(schedule.contract, 1 << 20),
      {.gamma = 1e-11, .ports = ports, .symmetry = false, .records = true, .intervals = 50});
}

std::string timeline_of(const std::string& spec, const std::string& name, std::uint32_t ports) {
  const Network network = generate(spec);
  return draw_timeline(simulated(network, name, ports), network,
                       {.title = name + " on " + spec, .lines = {"A line below the title."}});
}

TEST(Timeline, TextsNeverOverlap) {
  for (const std::uint32_t ports : {0U, 1U}) {
    for (const std::string name :
         {"allreduce/ring", "allreduce/halving_doubling", "alltoall/mesh", "broadcast/binomial",
          "allreduce/mesh", "barrier/dissemination"}) {
      for (const std::string spec : {"star:p=1", "star:p=8", "torus:3x3", "server:p=4,hosts=2"}) {
        SCOPED_TRACE(name + " on " + spec + " with ports " + std::to_string(ports));
        EXPECT_EQ(fault_in_drawing(timeline_of(spec, name, ports)), "");
      }
    }
  }
}

TEST(Timeline, DrawsAllActivitiesAndTheCriticalPath) {
  const Network network = generate("star:p=4");
  const Simulation simulation = simulated(network, "allreduce/ring", 1);
  const std::string svg = draw_timeline(simulation, network, {.title = "t"});
  std::size_t bars = 0;
  for (std::size_t at = svg.find("class=\"bar\""); at != std::string::npos;
       at = svg.find("class=\"bar\"", at + 1)) {
    ++bars;
  }
  EXPECT_EQ(bars, simulation.activities.size());
  EXPECT_GT(bars, 24);
  EXPECT_NE(svg.find("class=\"accent-line outline thick\""), std::string::npos);
}

TEST(Timeline, RejectsDrawingsThatAreTooLarge) {
  const Network network = generate("star:p=65");
  const Simulation simulation = simulated(network, "broadcast/binomial", 1);
  test::expect_error([&] { (void)draw_timeline(simulation, network, {.title = "t"}); },
                     ErrorCode::unsupported, "65 ranks");
}

TEST(Timeline, RingGolden) {
  test::expect_golden("render/timeline.svg", timeline_of("torus:4x2", "allreduce/ring", 1));
}

/// Arcs and labels stay on the paper, whatever the network looks like.
TEST(OverlayDrawing, HasNoFault) {
  for (const Generator& each : generators()) {
    const Network network = generate(each.example);
    Routes routes(network);
    std::vector<Rank> order;
    for (std::uint32_t r = 0; r < network.rank_count(); ++r) order.emplace_back(r);
    const std::vector<Hop> hops = ring_hops(order);
    const Stretch found = stretch(routes, hops);
    std::vector<OverlayHop> arcs;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      arcs.push_back({.from = hops[i].from, .to = hops[i].to, .links = found.links[i]});
    }
    const std::string svg = draw_overlay(network, arcs, hops_per_link(network, routes, hops),
                                         {.title = "A ring", .lines = {"on a network"}});
    EXPECT_NE(svg.find(std::to_string(found.worst) + " link"), std::string::npos) << each.name;
  }
}

}  // namespace
}  // namespace tutti::render
