#include <gtest/gtest.h>

#include <tutti/schedule/verify.hpp>

#include "support/interpreter.hpp"
#include "support/placed_run.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

/// The first violation; empty if there is none.
std::string first_fault(const Verification& verdict) {
  return verdict.ok() ? "" : verdict.violations.front().message;
}

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {
 protected:
  /// Calls check(schedule) for each problem with first_p … last_p ranks until one fails.
  template <class Check>
  void for_each_schedule(std::uint32_t first_p, std::uint32_t last_p, Check check) {
    for (std::uint32_t p = first_p; p <= last_p; ++p) {
      for (const Problem& problem : problems(*GetParam(), p)) {
        SCOPED_TRACE(words(problem));
        check(GetParam()->schedule(problem));
        if (HasFailure()) return;
      }
    }
  }
};

class SlowEveryAlgorithm : public EveryAlgorithm {};

void expect_verified(const Schedule& schedule) {
  const Verification verdict = verify(schedule);
  EXPECT_TRUE(verdict.ok()) << first_fault(verdict);
}

TEST_P(EveryAlgorithm, VerifiesForEveryRootAndShape) { for_each_schedule(1, 24, expect_verified); }

TEST_P(SlowEveryAlgorithm, VerifiesForEveryRootAndShape) {
  for_each_schedule(25, 64, expect_verified);
}

/// Exactly what the row claims.
TEST_P(EveryAlgorithm, FoldsInRankOrderExactlyIfItsRowSaysSo) {
  bool all_in_order = is_reduction(GetParam()->collective);
  for_each_schedule(2, 17, [&](const Schedule& schedule) {
    const bool in_order = verify(schedule).folds_in_rank_order;
    all_in_order = all_in_order && in_order;
    if (GetParam()->folds_in_rank_order) {
      EXPECT_TRUE(in_order);
    }
  });
  EXPECT_EQ(all_in_order, GetParam()->folds_in_rank_order);
}

TEST_P(EveryAlgorithm, MatchesTheDefinition) {
  for_each_schedule(1, 17, [](const Schedule& schedule) {
    EXPECT_EQ(fault_in_meaning(schedule, schedule.contract.ranks), "");
  });
}

TEST_P(EveryAlgorithm, GivesAllRanksTheSameBits) {
  for_each_schedule(1, 17, [](const Schedule& schedule) {
    EXPECT_EQ(difference_in_bits(schedule, schedule.contract.ranks), "");
  });
}

TEST_P(EveryAlgorithm, RunsInProgramOrder) {
  for_each_schedule(1, 17, [](const Schedule& schedule) {
    EXPECT_EQ(fault_in_meaning(schedule, schedule.contract.ranks, Pace::in_order), "");
  });
}

TEST_P(EveryAlgorithm, IsCorrectInMemoryForAnyOrderWithinARound) {
  for_each_schedule(1, 9, [](const Schedule& schedule) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      EXPECT_EQ(fault_in_memory(schedule, Aliasing::out_of_place, seed), "");
      EXPECT_EQ(fault_in_memory(schedule, Aliasing::in_place, seed), "");
    }
  });
}

std::string name_of(const testing::TestParamInfo<const Algorithm*>& parameter) {
  return test_name(*parameter.param);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, testing::ValuesIn(every_algorithm()), name_of);
INSTANTIATE_TEST_SUITE_P(Table, SlowEveryAlgorithm, testing::ValuesIn(every_algorithm()), name_of);

}  // namespace
}  // namespace tutti::test
