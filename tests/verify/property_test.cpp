#include <gtest/gtest.h>

#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/interpreter.hpp"
#include "support/placed_run.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

/// One random problem per algorithm, with a seed that reproduces it.
template <class Check>
void for_random_problems(std::uint32_t most_ranks, std::uint64_t repeats, Check check) {
  std::uint64_t seed = 0;
  for (std::uint64_t i = 0; i < repeats; ++i) {
    for (const Algorithm& algorithm : algorithms()) {
      Random random(++seed);
      const Problem problem = random_problem(algorithm, most_ranks, random);
      SCOPED_TRACE(std::string(algorithm.name) + " " + words(problem) + " seed " +
                   std::to_string(seed));
      check(algorithm.schedule(problem), random);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(RandomProblems, Verify) {
  for_random_problems(40, 5, [](const Schedule& schedule, Random&) {
    EXPECT_EQ(verify(schedule).violation_count, 0);
  });
}

TEST(RandomProblems, MatchTheReferenceInEveryLayout) {
  for_random_problems(40, 3, [](const Schedule& schedule, Random& random) {
    const Layout layout = random_layout(schedule.contract.chunks, random);
    const Holdings inputs = random_inputs(schedule.contract, layout, random);
    EXPECT_EQ(difference(interpret(schedule, inputs), reference(schedule.contract, inputs)), "");
  });
}

TEST(RandomProblems, AreCorrectInMemoryForAnyOrderWithinARound) {
  for_random_problems(20, 4, [](const Schedule& schedule, Random& random) {
    EXPECT_EQ(fault_in_memory(schedule, Aliasing::out_of_place, random.bits()), "");
    EXPECT_EQ(fault_in_memory(schedule, Aliasing::in_place, random.bits()), "");
  });
}

TEST(RandomProblems, RoundTripThroughJson) {
  for_random_problems(20, 2, [](const Schedule& schedule, Random&) {
    EXPECT_EQ(schedule_from_json(to_json(schedule)), schedule);
  });
}

TEST(SlowRandomProblems, VerifyAndMatchTheReferenceInEveryLayout) {
  for_random_problems(64, 20, [](const Schedule& schedule, Random& random) {
    EXPECT_EQ(verify(schedule).violation_count, 0);
    const Layout layout = random_layout(schedule.contract.chunks, random);
    const Holdings inputs = random_inputs(schedule.contract, layout, random);
    EXPECT_EQ(difference(interpret(schedule, inputs), reference(schedule.contract, inputs)), "");
  });
}

}  // namespace
}  // namespace tutti::test
