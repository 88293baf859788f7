#include <gtest/gtest.h>

#include <tutti/schedule/schedule_traits.hpp>

#include "support/problems.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

/// The union over all problems of several numbers of ranks.
ScheduleTraits traits_over_problems(const Algorithm& algorithm) {
  ScheduleTraits all;
  // PAT sends to the same rank again from 17 ranks on.
  for (const std::uint32_t p : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 18U}) {
    for (const Problem& problem : problems(algorithm, p)) {
      const ScheduleTraits one = traits_of(algorithm.schedule(problem));
      all.keeps_data |= one.keeps_data;
      all.needs_counts |= one.needs_counts;
      all.joins_chunks |= one.joins_chunks;
      all.repeats_pairs |= one.repeats_pairs;
    }
  }
  return all;
}

/// They are derived from two problems.
TEST(ScheduleTraits, OfAlgorithmsHoldForAllProblems) {
  for (const Algorithm& algorithm : algorithms()) {
    // The order of folds comes from verify().
    ScheduleTraits traits = traits_over_problems(algorithm);
    traits.folds_in_rank_order = algorithm.folds_in_rank_order;
    EXPECT_EQ(algorithm.traits(), traits)
        << algorithm.name << ": keeps " << traits.keeps_data << " forwards " << traits.needs_counts
        << " joins " << traits.joins_chunks << " repeats " << traits.repeats_pairs;
  }
}

TEST(ScheduleTraits, CoverTheWholeSchedule) {
  // Only rank 1 of the chain keeps data.
  const Schedule chain = algorithm("reduce/chain").schedule({.ranks = 3});
  EXPECT_TRUE(traits_of(chain).keeps_data);
  EXPECT_FALSE(traits_of(algorithm("reduce/chain").schedule({.ranks = 2})).keeps_data);
  EXPECT_TRUE(traits_of(algorithm("alltoall/bruck").schedule({.ranks = 4})).needs_counts);
  EXPECT_FALSE(traits_of(algorithm("alltoall/mesh").schedule({.ranks = 4})).needs_counts);
  EXPECT_FALSE(traits_of(algorithm("scatter/binomial").schedule({.ranks = 4})).needs_counts);
}

TEST(ScheduleTraits, CountCopiesOfVariants) {
  EXPECT_FALSE(traits_of(relay_allreduce(1)).keeps_data);
  // Rank 0 ends with one variant for each other rank.
  EXPECT_TRUE(traits_of(relay_allreduce(6)).keeps_data);
  EXPECT_EQ(traits_of(relay_allreduce(6)).copies, 5U);
  // One block in six each.
  EXPECT_EQ(traits_of(gathering_mesh(6)).copies, 2U);
  EXPECT_FALSE(traits_of(copying_alltoall(4)).needs_counts);
}

}  // namespace
}  // namespace tutti::test
