#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/routes.hpp>

#include "support/errors.hpp"
#include "support/random.hpp"

namespace tutti {
namespace {

using test::expect_error;
using Words = std::vector<std::string>;

Words words(const Network& network, const std::vector<LinkId>& links) {
  Words words;
  for (const LinkId link : links) words.push_back(network.describe(link));
  return words;
}

/// Floyd-Warshall: the number of links of the shortest path between any two nodes, through nodes
/// that forward.
std::vector<std::vector<std::uint32_t>> all_distances(const Network& network) {
  const std::size_t n = network.nodes.size();
  constexpr std::uint32_t far = 1 << 20;
  std::vector<std::vector<std::uint32_t>> distance(n, std::vector<std::uint32_t>(n, far));
  for (std::size_t i = 0; i < n; ++i) distance[i][i] = 0;
  for (const Link& link : network.links) distance[link.from.index()][link.to.index()] = 1;
  for (std::uint32_t k = 0; k < n; ++k) {
    if (network[NodeId{k}].kind == NodeKind::rank && !network.ranks_forward) continue;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
      }
    }
  }
  return distance;
}

/// Expects the links to lead from one rank to the other, visiting no node twice and passing only
/// through ranks that forward.
void expect_path(const Network& network, Rank from, Rank to, const std::vector<LinkId>& links) {
  NodeId at = network.ranks[from];
  std::set<NodeId> seen{at};
  for (const LinkId link : links) {
    ASSERT_LT(link.index(), network.links.size());
    ASSERT_EQ(network[link].from, at) << network.describe(link);
    at = network[link].to;
    EXPECT_TRUE(seen.insert(at).second) << "twice through " << network[at].name;
    if (network[at].kind == NodeKind::rank && at != network.ranks[to]) {
      EXPECT_TRUE(network.ranks_forward) << "through " << network[at].name;
    }
  }
  EXPECT_EQ(at, network.ranks[to]);
}

const std::vector<std::string> specs{"server:p=4,hosts=3",
                                     "server:p=1",
                                     "star:p=9",
                                     "fat_tree:k=2",
                                     "fat_tree:k=4",
                                     "fat_tree:k=8,oversubscription=2",
                                     "torus:5",
                                     "torus:4x4",
                                     "torus:2x3x4",
                                     "torus:1x5x2",
                                     "dragonfly:g=5,a=2,p=2",
                                     "dragonfly:g=3,a=4,p=1",
                                     "dragonfly:g=1,a=3,p=2",
                                     "ring:p=7",
                                     "hypercube:d=5",
                                     "full_mesh:p=7",
                                     "multi_rail:nodes=3,gpus=4",
                                     "multi_rail:nodes=3,gpus=4,nics=2"};

/// Calls check(network, routes, distances, policy) for every network and every policy that fits.
template <class F>
void for_all_routes(F check) {
  for (const std::string& spec : specs) {
    const Network network = generate(spec);
    const auto distances = all_distances(network);
    for (const RoutePolicy policy :
         {RoutePolicy::automatic, RoutePolicy::shortest, RoutePolicy::ecmp,
          RoutePolicy::dimension_order, RoutePolicy::up_down}) {
      SCOPED_TRACE(spec + " " + std::string(name(policy)));
      std::optional<Routes> routes;
      try {
        routes.emplace(network, RouteOptions{.policy = policy, .seed = 7});
      } catch (const Error&) {
        continue;
      }
      check(network, *routes, distances, policy);
    }
  }
}

TEST(Routes, AreValidAndShortestWherePromised) {
  int checked = 0;
  for_all_routes(
      [&](const Network& network, Routes& routes, const auto& distances, RoutePolicy policy) {
        const bool may_be_longer = policy == RoutePolicy::automatic &&
                                   std::holds_alternative<wiring::Dragonfly>(network.wiring);
        for (std::uint32_t a = 0; a < network.rank_count(); ++a) {
          for (std::uint32_t b = 0; b < network.rank_count(); ++b) {
            const auto links = routes.between(a, b);
            expect_path(network, a, b, links);
            const auto least = distances[network.ranks[a].index()][network.ranks[b].index()];
            if (may_be_longer) {
              EXPECT_LE(links.size(), 5U);
            } else {
              EXPECT_EQ(links.size(), least);
            }
            ++checked;
          }
        }
      });
  EXPECT_GT(checked, 70000);
}

TEST(Routes, NeverGoUpAfterGoingDown) {
  int checked = 0;
  for_all_routes([&](const Network& network, Routes& routes, const auto& /*distances*/,
                     RoutePolicy /*policy*/) {
    if (routes.policy() != RoutePolicy::up_down) return;
    for (std::uint32_t a = 0; a < network.rank_count(); ++a) {
      for (std::uint32_t b = 0; b < network.rank_count(); ++b) {
        bool down = false;
        for (const LinkId link : routes.between(a, b)) {
          const bool up = network[network[link].to].level > network[network[link].from].level;
          EXPECT_FALSE(up && down) << network.describe(link);
          down = down || !up;
        }
        ++checked;
      }
    }
  });
  EXPECT_GT(checked, 10000);
}

/// Levels where the shortest path goes down and then up: A and D are both linked to the bottom.
TEST(Routes, GoUpThenDownEvenIfLonger) {
  Network network;
  const NodeId a = network.add("A", NodeKind::rank);
  const NodeId d = network.add("D", NodeKind::rank);
  const NodeId left = network.add("left", NodeKind::switch_, 2);
  const NodeId right = network.add("right", NodeKind::switch_, 2);
  const NodeId bottom = network.add("bottom", NodeKind::switch_, 1);
  const NodeId higher_left = network.add("higher left", NodeKind::switch_, 3);
  const NodeId top = network.add("top", NodeKind::switch_, 4);
  const NodeId higher_right = network.add("higher right", NodeKind::switch_, 3);
  network.join(a, left, 1, 0);
  network.join(d, right, 1, 0);
  network.join(left, bottom, 1, 0);
  network.join(bottom, right, 1, 0);
  network.join(left, higher_left, 1, 0);
  network.join(higher_left, top, 1, 0);
  network.join(top, higher_right, 1, 0);
  network.join(higher_right, right, 1, 0);
  Routes up_down(network);
  EXPECT_EQ(up_down.policy(), RoutePolicy::up_down);
  EXPECT_EQ(words(network, up_down.between(Rank{0}, Rank{1})),
            (Words{"A→left", "left→higher left", "higher left→top", "top→higher right",
                   "higher right→right", "right→D"}));
  Routes shortest(network, {.policy = RoutePolicy::shortest});
  EXPECT_EQ(shortest.between(Rank{0}, Rank{1}).size(), 4U);
}

/// After the first links down, a shorter path would go up again.
TEST(Routes, StayOnTheWayDown) {
  Network network;
  const NodeId a = network.add("A", NodeKind::rank);
  const NodeId d = network.add("D", NodeKind::rank);
  const NodeId top = network.add("top", NodeKind::switch_, 9);
  const NodeId fork = network.add("fork", NodeKind::switch_, 8);
  const NodeId other_top = network.add("other top", NodeKind::switch_, 9);
  const NodeId bottom = network.add("bottom", NodeKind::switch_, 4);
  network.join(a, top, 1, 0);
  network.join(top, fork, 1, 0);
  NodeId last = fork;
  for (std::uint32_t level = 7; level > 4; --level) {
    const NodeId next = network.add("s" + std::to_string(level), NodeKind::switch_, level);
    network.join(last, next, 1, 0);
    last = next;
  }
  network.join(last, bottom, 1, 0);
  network.join(fork, other_top, 1, 0);
  network.join(other_top, bottom, 1, 0);
  network.join(bottom, d, 1, 0);
  Routes routes(network);
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{1})),
            (Words{"A→top", "top→fork", "fork→s7", "s7→s6", "s6→s5", "s5→bottom", "bottom→D"}));
  EXPECT_EQ(routes.between(Rank{1}, Rank{0}).size(), 7U);
}

TEST(Routes, FatTreeArithmeticEqualsSearch) {
  const Network wired = generate("fat_tree:k=4");
  Network searched = wired;
  searched.wiring = {};
  Routes by_arithmetic(wired);
  Routes by_search(searched);
  EXPECT_EQ(by_search.policy(), RoutePolicy::up_down);
  for (std::uint32_t a = 0; a < 16; ++a) {
    for (std::uint32_t b = 0; b < 16; ++b) {
      EXPECT_EQ(words(wired, by_arithmetic.between(a, b)), words(wired, by_search.between(a, b)));
    }
  }
}

TEST(Routes, ShiftSharesNoLinkOfAFatTree) {
  const Network network = generate("fat_tree:k=8");
  Routes routes(network);
  const std::uint32_t p = network.rank_count();
  for (std::uint32_t shift = 1; shift < p; ++shift) {
    std::vector<int> load(network.links.size());
    for (std::uint32_t r = 0; r < p; ++r) {
      for (const LinkId link : routes.between(r, (r + shift) % p)) {
        EXPECT_LE(++load[link.index()], 1) << network.describe(link) << " at shift " << shift;
      }
    }
  }
}

/// `pods` of four hosts of four ranks. The k-th ranks of the hosts of a pod share `planes` leaves
/// of the pod. Every leaf is linked to all four spines.
Network rails_below_spines(std::uint32_t pods, std::uint32_t planes, bool with_nics) {
  constexpr std::uint32_t rails = 4;
  Network network;
  std::vector<NodeId> spines;
  for (int s = 0; s < 4; ++s) {
    spines.push_back(network.add("s" + std::to_string(s), NodeKind::switch_, 3));
  }
  for (std::uint32_t pod = 0; pod < pods; ++pod) {
    std::vector<NodeId> leaves;
    for (std::uint32_t k = 0; k < rails * planes; ++k) {
      const std::string name = "l" + std::to_string(pod) + "." + std::to_string(k);
      leaves.push_back(network.add(name, NodeKind::switch_, 2));
      for (const NodeId spine : spines) network.join(leaves.back(), spine, 1, 0);
    }
    for (std::uint32_t i = 0; i < 16; ++i) {
      const std::string name = "r" + std::to_string(16 * pod + i);
      const NodeId rank = network.add(name, NodeKind::rank);
      for (std::uint32_t plane = 0; plane < planes; ++plane) {
        NodeId below = rank;
        if (with_nics) {
          below = network.add(name + ".nic" + std::to_string(plane), NodeKind::nic, 1);
          network.join(rank, below, 1, 0);
        }
        network.join(below, leaves[planes * (i % rails) + plane], 1, 0);
      }
    }
  }
  return network;
}

/// The ranks of a leaf are 0, 4, 8, 12: by their own numbers all would be reached by one spine.
TEST(Routes, RanksOfARailAreReachedBySeveralSpines) {
  for (const bool with_nics : {false, true}) {
    const Network network = rails_below_spines(3, 1, with_nics);
    Routes routes(network);
    ASSERT_EQ(routes.policy(), RoutePolicy::up_down);
    for (const std::uint32_t shift : {16U, 32U}) {
      std::vector<int> load(network.links.size());
      for (std::uint32_t r = 0; r < 48; ++r) {
        for (const LinkId link : routes.between(r, (r + shift) % 48)) {
          EXPECT_LE(++load[link.index()], 1) << network.describe(link) << " at shift " << shift;
        }
      }
    }
  }
}

/// By their own numbers, all ranks of a pair of leaves would be reached by the same one of the two.
TEST(Routes, RanksWithTwoUplinksAreReachedByBoth) {
  for (const bool with_nics : {false, true}) {
    const Network network = rails_below_spines(3, 2, with_nics);
    Routes routes(network);
    ASSERT_EQ(routes.policy(), RoutePolicy::up_down);
    for (const std::uint32_t shift : {16U, 32U}) {
      std::vector<int> load(network.links.size());
      for (std::uint32_t r = 0; r < 48; ++r) {
        for (const LinkId link : routes.between(r, (r + shift) % 48)) {
          if (network[network[link].to].level < network[network[link].from].level) continue;
          EXPECT_LE(++load[link.index()], 1) << network.describe(link) << " at shift " << shift;
        }
      }
    }
  }
}

TEST(Routes, EcmpIsDeterministicAndUsesAllPaths) {
  const Network network = generate("fat_tree:k=8");
  Routes one(network, {.policy = RoutePolicy::ecmp, .seed = 1});
  Routes same(network, {.policy = RoutePolicy::ecmp, .seed = 1});
  Routes other(network, {.policy = RoutePolicy::ecmp, .seed = 2});
  std::set<Words> ways;
  int differ = 0;
  for (std::uint64_t flow = 0; flow < 400; ++flow) {
    const auto path = one.between(Rank{0}, Rank{127}, flow);
    EXPECT_EQ(path, same.between(Rank{0}, Rank{127}, flow));
    differ += path == other.between(Rank{0}, Rank{127}, flow) ? 0 : 1;
    ways.insert(words(network, path));
  }
  EXPECT_EQ(ways.size(), 16U);
  EXPECT_GT(differ, 300);
}

TEST(Routes, TorusUsesTheFirstDimensionFirst) {
  const Network network = generate("torus:4x3");
  Routes routes(network);
  EXPECT_EQ(routes.policy(), RoutePolicy::dimension_order);
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{7})), (Words{"r0→r3", "r3→r7"}));
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{2})), (Words{"r0→r1", "r1→r2"}));
  EXPECT_EQ(words(network, routes.between(Rank{1}, Rank{3})), (Words{"r1→r0", "r0→r3"}));
}

TEST(Routes, UseTheRailOfTheDestination) {
  const Network network = generate("multi_rail:nodes=2,gpus=2");
  Routes routes(network);
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{3})),
            (Words{"r0→h0", "h0→h0.n1", "h0.n1→rail1", "rail1→h1.n1", "h1.n1→h1", "h1→r3"}));
}

TEST(Routes, FixedRoutesOverrideThePolicy) {
  Network network = generate("ring:p=4");
  Routes usual(network);
  EXPECT_EQ(words(network, usual.between(Rank{0}, Rank{1})), Words{"r0→r1"});
  network.own_routes.push_back(
      {.from = Rank{0}, .to = Rank{1}, .links = {LinkId{7}, LinkId{5}, LinkId{3}}});
  Routes own(network);
  EXPECT_EQ(words(network, own.between(Rank{0}, Rank{1})), (Words{"r0→r3", "r3→r2", "r2→r1"}));
  EXPECT_EQ(words(network, own.between(Rank{1}, Rank{0})), Words{"r1→r0"});
  network.own_routes.front().links.pop_back();
  expect_error([&] { Routes{network}; }, ErrorCode::invalid_argument,
               "the route from r0 to r1 ends at r2");
  network.own_routes.front().links = {LinkId{7}, LinkId{3}};
  expect_error([&] { Routes{network}; }, ErrorCode::invalid_argument,
               "is at r3 but continues with the link r2→r1");
}

TEST(Routes, ErrorsNameThePolicyAndTheCure) {
  const Network ring = generate("ring:p=4");
  expect_error([&] { Routes(ring, {.policy = RoutePolicy::up_down}); }, ErrorCode::invalid_argument,
               "up_down needs every link to lead from one level to another");
  const Network star = generate("star:p=4");
  expect_error([&] { Routes(star, {.policy = RoutePolicy::dimension_order}); },
               ErrorCode::invalid_argument, "dimension_order is for tori");
  expect_error([] { (void)parse_route_policy("emcp"); }, ErrorCode::invalid_argument,
               "Did you mean 'ecmp'?");
  Network torus = generate("torus:3x3");
  torus.links.erase(torus.links.begin());
  expect_error([&] { Routes{torus}; }, ErrorCode::invalid_argument,
               "no link from r0 to its neighbour r1");
  Network changed = generate("fat_tree:k=4");
  changed.join(NodeId{0}, NodeId{1}, 1, 0);
  changed.nodes[1].level = 5;
  expect_error([&] { Routes{changed}; }, ErrorCode::invalid_argument, "clear `wiring`");
}

/// A, B and C in a row: there is no path from A to C unless B forwards. Rank 0 is B, so
/// Network::check() finds no error.
TEST(Routes, AMissingPathNamesBothRanks) {
  Network network;
  const NodeId b = network.add("B", NodeKind::rank);
  const NodeId a = network.add("A", NodeKind::rank);
  const NodeId c = network.add("C", NodeKind::rank);
  network.join(a, b, 1, 0);
  network.join(b, c, 1, 0);
  Routes routes(network);
  EXPECT_EQ(routes.between(Rank{1}, Rank{0}).size(), 1U);
  expect_error([&] { (void)routes.between(Rank{1}, Rank{2}); }, ErrorCode::invalid_argument,
               "no path leads from A to C");
}

/// Random graphs of switches, some without levels.
TEST(Routes, AreShortestOnRandomNetworks) {
  test::Random random(1);
  for (int round = 0; round < 200; ++round) {
    Network network;
    network.ranks_forward = random.one_in(2);
    const auto switches = 1 + random.below(6U);
    for (std::uint32_t i = 0; i < 6; ++i) {
      network.add("r" + std::to_string(i), NodeKind::rank);
    }
    for (std::uint32_t i = 0; i < switches; ++i) {
      network.add("s" + std::to_string(i), NodeKind::switch_);
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      network.join(NodeId{i}, NodeId{6 + random.below(switches)}, 1, 0);
    }
    for (std::uint32_t i = 1; i < switches; ++i) {
      network.join(NodeId{6 + i}, NodeId{6 + random.below(i)}, 1, 0);
    }
    for (int extra = 0; extra < 6; ++extra) {
      const NodeId from{random.below(6 + switches)};
      const NodeId to{random.below(6 + switches)};
      if (from != to) network.add_link(from, to, 1, 0);
    }
    const auto distances = all_distances(network);
    Routes routes(network, {.policy = RoutePolicy::ecmp, .seed = random.bits()});
    for (std::uint32_t a = 0; a < 6; ++a) {
      for (std::uint32_t b = 0; b < 6; ++b) {
        const auto links = routes.between(a, b);
        expect_path(network, a, b, links);
        EXPECT_EQ(links.size(), distances[a][b]);
      }
    }
  }
}

}  // namespace
}  // namespace tutti
