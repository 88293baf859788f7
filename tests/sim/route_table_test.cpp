#include "sim/route_table.hpp"

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>

namespace tutti {
namespace {

TEST(RouteTable, IsLonelyIfOneRankSendsOrOneReceives) {
  const Network network = generate("star:4");
  Routes routes(network);
  RouteTable table(network, routes, {});
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = 0; b < 4; ++b) {
      if (a != b) (void)table.add(a, b);
    }
  }
  for (std::uint32_t i = 0; i < table.size(); ++i) EXPECT_TRUE(table.is_lonely(i));
}

TEST(RouteTable, IsNotLonelyIfRoutesOfSeveralRanksMeet) {
  // Two leaf switches joined by one link in each direction.
  Network network;
  network.name = "two leaves";
  const NodeId left = network.add("left", NodeKind::switch_, 1);
  const NodeId right = network.add("right", NodeKind::switch_, 1);
  for (std::uint32_t r = 0; r < 4; ++r) {
    network.join(network.add("r" + std::to_string(r), NodeKind::rank), r < 2 ? left : right, 1e9,
                 0);
  }
  network.join(left, right, 1e9, 0);
  Routes routes(network);
  RouteTable table(network, routes, {});
  const std::uint32_t across = table.add(Rank{0}, Rank{2});
  EXPECT_TRUE(table.is_lonely(across));
  const std::uint32_t beside = table.add(Rank{1}, Rank{3});
  const std::uint32_t within = table.add(Rank{1}, Rank{0});
  EXPECT_FALSE(table.is_lonely(across));
  EXPECT_FALSE(table.is_lonely(beside));
  EXPECT_TRUE(table.is_lonely(within));
}

TEST(RouteTable, IsNotLonelyIfTwoRanksShareAPlace) {
  const Network network = generate("star:4");
  Routes routes(network);
  const std::vector<Rank> places{Rank{0}, Rank{0}, Rank{1}, Rank{1}};
  RouteTable table(network, routes, places);
  const std::uint32_t one = table.add(Rank{0}, Rank{2});
  const std::uint32_t other = table.add(Rank{1}, Rank{3});
  EXPECT_FALSE(table.is_lonely(one));
  EXPECT_FALSE(table.is_lonely(other));
}

TEST(RouteTable, IsNotLonelyIfARouteRepeatsALink) {
  Network network = generate("star:2");
  const NodeId hub = network.links.front().to;
  const NodeId detour = network.add("detour", NodeKind::switch_, 2);
  const LinkId up = network.join(hub, detour, 1e9, 0);
  const LinkId down{up.index() + 1};
  network.own_routes.push_back(
      {.from = Rank{0}, .to = Rank{1}, .links = {LinkId{0}, up, down, up, down, LinkId{3}}});
  Routes routes(network);
  RouteTable table(network, routes, {});
  EXPECT_FALSE(table.is_lonely(table.add(Rank{0}, Rank{1})));
}

}  // namespace
}  // namespace tutti
