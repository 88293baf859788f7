#include "render/hop_drawing.hpp"

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>

#include "render/hop_graph.hpp"
#include "render/hop_layout.hpp"
#include "support/drawing.hpp"
#include "support/errors.hpp"

namespace tutti::test {
namespace {

using render::HopGraph;
using render::HopLayout;

Schedule schedule_of(const std::string& name, std::uint32_t ranks) {
  const Algorithm& row = algorithm(name);
  return row.schedule({.ranks = ranks, .shape = row.needs_shape() ? squarest(ranks) : Shape{}});
}

HopLayout::Kind kind_of(const std::string& name, std::uint32_t ranks) {
  const Schedule schedule = schedule_of(name, ranks);
  return render::hop_layout(render::hop_graph(schedule, 1), 0, squarest(ranks)).kind;
}

TEST(HopDrawing, DrawsRingsAsRingsAndTreesAsTrees) {
  using Kind = HopLayout::Kind;
  EXPECT_EQ(kind_of("allreduce/ring", 64), Kind::ring);
  EXPECT_EQ(kind_of("allreduce/bidirectional_ring", 16), Kind::ring);
  EXPECT_EQ(kind_of("allreduce/binomial", 64), Kind::tree);
  EXPECT_EQ(kind_of("broadcast/binary_tree", 16), Kind::tree);
  EXPECT_EQ(kind_of("allreduce/torus", 16), Kind::grid);
  const HopGraph mesh = render::hop_graph(schedule_of("allgather/mesh", 6), 1);
  EXPECT_EQ(render::hop_layout(mesh, 0, {}).kind, Kind::circle);
}

TEST(HopDrawing, SeparatesTheTreesOfADoubleTree) {
  const auto ways = render::hop_graphs_by_way(schedule_of("allreduce/double_tree", 16), 4);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_TRUE(render::is_tree(ways[0]));
  EXPECT_TRUE(render::is_tree(ways[1]));
  EXPECT_EQ(render::hop_graphs_by_way(schedule_of("allreduce/ring", 16), 4).size(), 1U);
  EXPECT_TRUE(render::hop_graphs_by_way(schedule_of("allgather/mesh", 16), 4).empty());
}

TEST(HopDrawing, FoldsAndSelectsRounds) {
  const Schedule schedule = schedule_of("allreduce/ring", 64);
  const HopGraph folded = render::hop_graph(schedule, 8);
  EXPECT_EQ(folded.nodes, 8U);
  EXPECT_EQ(folded.hops.size(), 8U);
  EXPECT_EQ(folded.inside, 56U * 126);
  EXPECT_EQ(folded.hops.at({0, 1}).messages, 126U);
  const HopGraph first = render::hop_graph(schedule, 1, {1, 1});
  EXPECT_EQ(first.hops.at({3, 4}).messages, 1U);
  EXPECT_TRUE(first.hops.at({3, 4}).adds);
}

/// Every text is inside the paper and overlaps no other.
TEST(HopDrawing, IsReadableForEveryAlgorithm) {
  for (const Algorithm& each : algorithms()) {
    for (const std::uint32_t ranks : {5U, 16U, 64U}) {
      Problem problem{.ranks = ranks};
      if (each.needs_shape()) problem.shape = squarest(ranks);
      if (!each.refusal(problem).empty()) continue;
      const Schedule schedule = each.schedule(problem);
      const std::string svg =
          render::draw_hops(schedule, {.title = std::string(each.name)}, {.shape = problem.shape});
      EXPECT_EQ(fault_in_drawing(svg), "") << each.name << " on " << ranks;
    }
  }
}

TEST(HopDrawing, RefusesWhatDoesNotExist) {
  const Schedule schedule = schedule_of("allreduce/ring", 4);
  expect_error([&] { (void)render::draw_hops(schedule, {.title = "x"}, {.rounds = {7}}); },
               ErrorCode::invalid_argument, "there is no round 7");
  expect_error([&] { (void)render::draw_hops(schedule, {.title = "x"}, {.zoom = {4}}); },
               ErrorCode::invalid_argument, "there is no rank 4");
}

}  // namespace
}  // namespace tutti::test
