#include "algorithms/lecture_names.hpp"

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

TEST(LectureNames, AreUnderstood) {
  const std::vector<std::pair<std::string, std::string>> known{
      {"rabenseifner", "allreduce/halving_doubling"},
      {"allreduce/Rabenseifner's", "allreduce/halving_doubling"},
      {"allreduce/recursive halving-doubling", "allreduce/halving_doubling"},
      {"allreduce/tree", "allreduce/binomial"},
      {"broadcast/MST", "broadcast/binomial"},
      {"bcast/mst", "broadcast/binomial"},
      {"AllReduce/Ring", "allreduce/ring"},
      {"ring-allreduce", "allreduce/ring"},
      {"all_reduce/naive ring", "allreduce/ring_naive"},
      {"allreduce/butterfly", "allreduce/recursive_doubling"},
      {"reduce-scatter/butterfly", "reduce_scatter/recursive_halving"},
      {"allreduce/mesh one-shot", "allreduce/mesh"},
      {"allreduce/mesh two-shot", "allreduce/mesh_two_shot"},
      {"allreduce/two-shot", "allreduce/mesh_two_shot"},
      {"reduce/rabenseifner", "reduce/reduce_scatter_gather"},
      {"recursive_halving", "reduce_scatter/recursive_halving"},
      {"broadcast/pipeline:segments=8", "broadcast/chain:segments=8"},
  };
  for (const auto& [given, expected] : known) EXPECT_EQ(algorithm(given).name, expected) << given;
}

TEST(LectureNames, AskForTheCollectiveIfThereAreSeveral) {
  expect_error([] { (void)algorithm("ring"); }, ErrorCode::invalid_argument,
               "'ring' of which collective? There are allgather/ring, allreduce/ring");
  expect_error([] { (void)algorithm("allreduce/rign"); }, ErrorCode::invalid_argument,
               "Did you mean 'allreduce/ring'?");
  EXPECT_FALSE(full_name("nothing"));
  EXPECT_FALSE(full_name("nothing/ring"));
}

/// A name of the table always means its own row.
TEST(LectureNames, LeaveTheTableAlone) {
  for (const Algorithm& each : algorithms()) {
    EXPECT_EQ(table_name(each.collective, each.name.substr(each.name.find('/') + 1)),
              each.name.substr(each.name.find('/') + 1));
    EXPECT_EQ(full_name(each.name), std::string(each.name));
  }
}

}  // namespace
}  // namespace tutti::test
