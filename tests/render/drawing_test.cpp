#include <gtest/gtest.h>

#include <tutti/drawing.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/schedule/algorithm.hpp>

namespace tutti::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Drawing, SchedulesNetworksAndSimulations) {
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 3});
  const Network network = load_network("star:p=3");
  Routes routes(network);
  const Layout layout = even_layout(schedule.contract, 3000);
  EXPECT_TRUE(contains(draw_rounds(schedule), "allreduce/ring, 3 ranks"));
  EXPECT_TRUE(contains(draw_rounds(schedule, {.title = "mine"}), "mine"));
  EXPECT_TRUE(contains(draw_player(schedule), "<script"));
  EXPECT_TRUE(contains(explain(schedule), "round"));
  EXPECT_TRUE(contains(draw_network(network), "<svg"));
  EXPECT_TRUE(contains(draw_load(schedule, layout, network, routes), "star:p=3"));
  const Simulation simulation =
      simulate(network, routes, source_of(schedule), layout, {.records = true});
  EXPECT_TRUE(contains(draw_timeline(simulation, network), "<svg"));
}

}  // namespace
}  // namespace tutti::test
