#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using enum Collective;

/// The directory of the algorithms' sources.
std::filesystem::path sources() {
  return std::filesystem::path(TUTTI_GOLDEN_DIR).parent_path().parent_path() / "src" / "algorithms";
}

TEST(Table, HasTheAlgorithmsOfTheField) {
  struct Row {
    Collective collective;
    std::set<std::string> names;
  };
  const std::vector<Row> rows{
      {broadcast,
       {"flat", "binomial", "binary_tree", "chain", "scatter_allgather", "double_tree", "knomial",
        "mesh_tree", "mesh_chain"}},
      {reduce,
       {"flat", "mesh_two_shot", "binomial", "binary_tree", "chain", "reduce_scatter_gather",
        "double_tree", "knomial"}},
      {scatter, {"flat", "binomial", "knomial"}},
      {gather, {"flat", "binomial", "knomial"}},
      {allgather,
       {"mesh", "ring", "bidirectional_ring", "recursive_doubling", "bruck", "gather_broadcast",
        "recursive_multiplying", "sparbit", "pat", "neighbour_exchange", "mesh_ring", "mesh_bruck",
        "torus"}},
      {reduce_scatter,
       {"mesh", "ring", "bidirectional_ring", "recursive_halving", "bruck", "reduce_then_scatter",
        "recursive_multiplying", "pat", "mesh_ring", "mesh_bruck", "torus"}},
      {allreduce,
       {"mesh", "mesh_two_shot", "root", "binary_tree", "binomial", "ring_naive", "ring",
        "bidirectional_ring", "recursive_doubling", "halving_doubling", "bruck", "double_tree",
        "ring_ring", "ring_tree", "torus", "recursive_multiplying", "swing", "swing_torus"}},
      {alltoall, {"mesh", "pairwise", "bruck", "mesh_pairwise"}},
      {barrier, {"dissemination", "binomial"}},
  };
  for (const Row& row : rows) {
    for (const std::string& each : row.names) {
      const std::string full = std::string(name(row.collective)) + "/" + each;
      EXPECT_NO_THROW(EXPECT_EQ(algorithm(full).collective, row.collective)) << full;
    }
  }
}

TEST(Table, NamesAreUniqueAndBeginWithTheCollective) {
  std::set<std::string_view> seen;
  for (const Algorithm& each : algorithms()) {
    EXPECT_TRUE(seen.insert(each.name).second) << each.name;
    EXPECT_TRUE(each.name.starts_with(std::string(name(each.collective)) + "/")) << each.name;
    EXPECT_EQ(&algorithm(each.name), &each);
  }
}

TEST(Table, NamesMatchTheSourceFiles) {
  std::set<std::string> named;
  for (const Algorithm& each : algorithms()) {
    named.insert(std::string(each.name));
    EXPECT_TRUE(std::filesystem::is_regular_file(sources() / (std::string(each.name) + ".cpp")))
        << each.name;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sources())) {
    const std::filesystem::path path = std::filesystem::relative(entry.path(), sources());
    if (path.extension() != ".cpp" || !path.has_parent_path()) continue;
    EXPECT_TRUE(named.contains(std::filesystem::path(path).replace_extension().generic_string()))
        << path << " is not in the table";
  }
}

TEST(Table, IsGroupedByCollective) {
  std::size_t total = 0;
  for (const Collective collective : collectives()) {
    const auto group = algorithms(collective);
    EXPECT_FALSE(group.empty()) << name(collective);
    for (const Algorithm& each : group) EXPECT_EQ(each.collective, collective) << each.name;
    total += group.size();
  }
  EXPECT_EQ(total, algorithms().size());
}

TEST(Table, EveryAlgorithmHasASummary) {
  for (const Algorithm& each : algorithms()) {
    EXPECT_FALSE(each.summary.empty()) << each.name;
    const bool adds = is_reduction(each.collective) && each.collective != barrier;
    EXPECT_EQ(!each.order.empty(), adds) << each.name;
  }
}

TEST(Table, SuggestsTheNearestName) {
  const auto asking = [](std::string_view text) { return [text] { (void)algorithm(text); }; };
  expect_error(asking("allreduce/rng"), ErrorCode::invalid_argument,
               "Did you mean 'allreduce/ring'?");
  expect_error(asking("allreduce/ring-rng"), ErrorCode::invalid_argument,
               "Did you mean 'allreduce/ring_ring'?");
  expect_error(asking("broadcast/binomail"), ErrorCode::invalid_argument,
               "Did you mean 'broadcast/binomial'?");
  expect_error(asking(""), ErrorCode::invalid_argument, "no algorithm is called ''");
}

TEST(Refusal, IsEmptyForEveryProblemWithoutShape) {
  for (const Algorithm& each : algorithms()) {
    if (each.needs_shape()) continue;
    EXPECT_EQ(each.refusal({.ranks = 7}), "") << each.name;
  }
}

TEST(Refusal, SuggestsAShape) {
  struct Row {
    std::string_view name;
    std::uint32_t ranks;
    Shape shape;
    std::string says;
  };
  for (const Row& row : {
           Row{"allreduce/ring_ring", 12, {}, "needs a shape of 2 dimensions for 12 ranks"},
           Row{"allreduce/ring_ring", 12, {}, "use --shape 4x3"},
           Row{"allreduce/ring_ring", 12, {{2, 2, 3}}, "2x2x3 has 3"},
           Row{"allreduce/ring_ring", 12, {{12}}, "12 has 1"},
           Row{"allreduce/ring_tree", 12, {{4, 4}}, "4x4 is for 16 ranks"},
           Row{"allreduce/ring_tree", 7, {{4, 4}}, "use --shape 7x1"},
           Row{"allreduce/torus", 12, {}, "2 or 3 dimensions"},
           Row{"allreduce/torus", 16, {{2, 2, 2, 2}}, "2x2x2x2 has 4"},
           Row{"allreduce/torus", 16, {{2, 2, 2}}, "2x2x2 is for 8 ranks"},
       }) {
    const Problem problem{.ranks = row.ranks, .root = {}, .shape = row.shape};
    const Algorithm& asked = algorithm(row.name);
    EXPECT_NE(asked.refusal(problem).find(row.says), std::string::npos) << asked.refusal(problem);
    expect_error([&] { (void)asked.contract(problem); }, ErrorCode::unsupported, row.says);
    expect_error([&] { (void)asked.program(problem, Rank{0}); }, ErrorCode::unsupported, row.says);
    expect_error([&] { (void)asked.schedule(problem); }, ErrorCode::unsupported, row.says);
  }
}

TEST(Refusal, SuggestedShapeIsAccepted) {
  for (const Algorithm& each : algorithms()) {
    for (std::uint32_t p = 1; p <= 30; ++p) {
      EXPECT_EQ(each.refusal({.ranks = p, .root = {}, .shape = squarest(p)}), "") << each.name;
    }
  }
}

TEST(Refusal, NamesTheSupportedProblems) {
  Algorithm limited = algorithm("allreduce/recursive_doubling");
  limited.supports = [](const Problem& problem) {
    return (problem.ranks & (problem.ranks - 1)) == 0;
  };
  limited.limits = "a power of two ranks";
  EXPECT_EQ(limited.refusal({.ranks = 8}), "");
  EXPECT_EQ(limited.refusal({.ranks = 6}),
            "allreduce/recursive_doubling is for a power of two ranks, not for 6");
  expect_error([&] { (void)limited.schedule({.ranks = 6}); }, ErrorCode::unsupported,
               "a power of two ranks");
}

TEST(Algorithm, RejectsInvalidProblems) {
  for (const Algorithm& each : algorithms()) {
    SCOPED_TRACE(each.name);
    EXPECT_THROW((void)each.schedule({.ranks = 0}), Error);
    if (each.needs_shape()) continue;
    expect_error([&] { (void)each.program({.ranks = 4}, Rank{4}); }, ErrorCode::invalid_argument,
                 "rank 4 is not one of the 4 ranks");
    const Problem beyond{.ranks = 4, .root = Rank{4}, .shape = {}};
    if (has_root(each.collective)) {
      expect_error([&] { (void)each.schedule(beyond); }, ErrorCode::invalid_argument, "root 4");
    } else {
      EXPECT_EQ(each.schedule(beyond), each.schedule({.ranks = 4}));
    }
  }
}

}  // namespace
}  // namespace tutti::test
