#include "render/hop_drawing.hpp"

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>

#include "render/hop_graph.hpp"
#include "render/hop_layout.hpp"
#include "render/hop_lines.hpp"
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

TEST(HopDrawing, OneLineForTwoHopsThatCarryTheSame) {
  const auto lines = render::hop_lines(render::hop_graph(schedule_of("allreduce/mesh", 16), 1));
  EXPECT_EQ(lines.size(), 120U);
  for (const render::HopLine& each : lines) EXPECT_TRUE(each.both_ways);
  // Up a tree data is added, down it is stored.
  const auto tree = render::hop_lines(render::hop_graph(schedule_of("allreduce/binomial", 16), 1));
  EXPECT_EQ(tree.size(), 30U);
  for (const render::HopLine& each : tree) EXPECT_FALSE(each.both_ways);
}

std::string drawn(const std::string& name, std::uint32_t ranks,
                  std::vector<std::uint32_t> zoom = {}) {
  const Shape shape = algorithm(name).needs_shape() ? squarest(ranks) : Shape{};
  return render::draw_hops(schedule_of(name, ranks), {.title = name},
                           {.shape = shape, .zoom = std::move(zoom)});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Lines between all pairs would otherwise fill the whole circle.
TEST(HopDrawing, DrawsManyLinesThin) {
  EXPECT_TRUE(contains(drawn("allreduce/mesh", 64), "adds-line hair"));
  EXPECT_TRUE(contains(drawn("allreduce/mesh", 64), "--zoom 0 draws the messages of one rank"));
  EXPECT_TRUE(contains(drawn("allreduce/mesh", 64, {0}), "adds-line load-1"));
  EXPECT_FALSE(contains(drawn("allreduce/ring", 64), "-line hair\""));
}

/// The legend says how much a line carries, and speaks of width only if widths differ.
TEST(HopDrawing, SaysHowMuchALineCarries) {
  EXPECT_TRUE(contains(drawn("allreduce/ring", 64), "each line carries 196.9 % of the data<"));
  EXPECT_TRUE(
      contains(drawn("allreduce/mesh", 16), "each line carries 100 % of the data each way"));
  EXPECT_TRUE(contains(drawn("allreduce/ring_ring", 16),
                       "the widest line carries 150 % of the data; narrower ones less"));
  EXPECT_TRUE(contains(drawn("allreduce/halving_doubling", 64),
                       "a line carries at most 100 % of the data each way"));
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
