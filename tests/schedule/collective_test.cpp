#include <set>

#include <gtest/gtest.h>

#include <tutti/collective.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using enum Collective;

TEST(Collective, HasNineDistinctNames) {
  std::set<std::string_view> names;
  for (const Collective each : collectives()) names.insert(name(each));
  EXPECT_EQ(names,
            (std::set<std::string_view>{"broadcast", "scatter", "gather", "allgather", "reduce",
                                        "allreduce", "reduce_scatter", "alltoall", "barrier"}));
}

TEST(Collective, NamesRoundTrip) {
  for (const Collective each : collectives()) EXPECT_EQ(parse_collective(name(each)), each);
}

TEST(Collective, SuggestsTheNearestName) {
  const auto reading = [](std::string_view text) {
    return [text] { (void)parse_collective(text); };
  };
  expect_error(reading("allreducee"), ErrorCode::invalid_argument, "Did you mean 'allreduce'?");
  expect_error(reading("reduce-scater"), ErrorCode::invalid_argument,
               "Did you mean 'reduce_scatter'?");
  expect_error(reading("brodcast"), ErrorCode::invalid_argument, "Did you mean 'broadcast'?");
  expect_error(reading("xyzzy"), ErrorCode::invalid_argument, "There are: broadcast, scatter,");
  expect_error(reading(""), ErrorCode::invalid_argument, "no collective is called ''");
}

TEST(Collective, IsReadInTheSpellingsOfOtherLibraries) {
  EXPECT_EQ(parse_collective("AllReduce"), allreduce);
  EXPECT_EQ(parse_collective("reduce-scatter"), reduce_scatter);
  EXPECT_EQ(parse_collective("all_to_all"), alltoall);
}

TEST(Collective, DualsArePairs) {
  EXPECT_EQ(dual(broadcast), reduce);
  EXPECT_EQ(dual(scatter), gather);
  EXPECT_EQ(dual(allgather), reduce_scatter);
  for (const Collective each : {broadcast, reduce, scatter, gather, allgather, reduce_scatter}) {
    EXPECT_EQ(dual(dual(each)), each);
    EXPECT_EQ(has_root(dual(each)), has_root(each));
  }
}

TEST(Collective, RejectsDualsThatDoNotExist) {
  for (const Collective each : {allreduce, alltoall, barrier}) {
    expect_error([each] { (void)dual(each); }, ErrorCode::unsupported,
                 std::string(name(each)) + " has no dual");
  }
}

TEST(Collective, HasTheRightProperties) {
  struct Nature {
    Collective collective;
    bool root;
    bool reduces;
    bool blocks;
  };
  for (const auto& [each, root, reduces, blocks] : {
           Nature{broadcast, true, false, false},
           Nature{scatter, true, false, true},
           Nature{gather, true, false, true},
           Nature{allgather, false, false, true},
           Nature{reduce, true, true, false},
           Nature{allreduce, false, true, false},
           Nature{reduce_scatter, false, true, true},
           Nature{alltoall, false, false, false},
           Nature{barrier, false, true, false},
       }) {
    EXPECT_EQ(has_root(each), root) << name(each);
    EXPECT_EQ(is_reduction(each), reduces) << name(each);
    EXPECT_EQ(has_block_per_rank(each), blocks) << name(each);
  }
}

}  // namespace
}  // namespace tutti::test
