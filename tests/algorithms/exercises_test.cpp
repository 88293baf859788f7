#include <gtest/gtest.h>

#include <tutti/schedule/verify.hpp>

#include "support/interpreter.hpp"
#include "support/problems.hpp"

/// The exercises of the lecture notes, solved by running the schedules.
namespace tutti::test {
namespace {

/// P0 = [1, 2, 3, 4], P1 = [5, 6, 7, 8] and so on: chunk c of rank r is p·r + c + 1.
Holdings counting_up(std::uint32_t p) {
  Holdings inputs(p, Holding(p));
  for (std::uint32_t r = 0; r < p; ++r) {
    for (std::uint32_t c = 0; c < p; ++c) inputs[r][c] = Value{p * r + c + 1};
  }
  return inputs;
}

TEST(Exercise, RingReduceScatterOfFourRanks) {
  const Schedule schedule = algorithm("reduce_scatter/ring").schedule({.ranks = 4});
  const Outcome outcome = interpret(schedule, counting_up(4), Pace::in_order);
  ASSERT_EQ(outcome.fault, Outcome::Fault::none) << outcome.where;
  const std::vector<std::int64_t> sums{28, 32, 36, 40};
  for (std::uint32_t r = 0; r < 4; ++r) EXPECT_EQ(outcome.holdings[r][r], Value{sums[r]});
}

TEST(Exercise, RingAllreduceOfFourRanks) {
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 4});
  const Outcome outcome = interpret(schedule, counting_up(4), Pace::in_order);
  ASSERT_EQ(outcome.fault, Outcome::Fault::none) << outcome.where;
  const Holding sums{Value{28}, Value{32}, Value{36}, Value{40}};
  for (std::uint32_t r = 0; r < 4; ++r) EXPECT_EQ(outcome.holdings[r], sums);
}

/// The first step of the trace: chunk r − 1 of each rank is added to the same chunk of the next.
TEST(Exercise, FirstRingStepAddsMatchingChunks) {
  Schedule schedule = algorithm("reduce_scatter/ring").schedule({.ranks = 4});
  for (Program& program : schedule.programs) {
    Program first(1);
    for (const Step step : program) {
      if (step.round == 0) first.append(step);
    }
    program = first;
  }
  const Outcome outcome = interpret(schedule, counting_up(4));
  const Holdings before = counting_up(4);
  for (std::uint32_t r = 0; r < 4; ++r) {
    const std::uint32_t below = (r + 3) % 4;
    const std::uint32_t arrived = (r + 2) % 4;
    for (std::uint32_t c = 0; c < 4; ++c) {
      const std::int64_t added = c == arrived ? before[below][c]->front() : 0;
      EXPECT_EQ(outcome.holdings[r][c]->front(), before[r][c]->front() + added)
          << "rank " << r << " chunk " << c;
    }
  }
}

/// Every message of a ring has the same chunk number at both ends.
TEST(Exercise, RingKeepsChunkNumbers) {
  for (const char* name : {"reduce_scatter/ring", "allgather/ring", "allreduce/ring"}) {
    for (std::uint32_t p = 2; p <= 8; ++p) {
      const Schedule schedule = algorithm(name).schedule({.ranks = p});
      for (std::uint32_t r = 0; r < p; ++r) {
        const Program& here = schedule.programs[r];
        const Program& next = schedule.programs[(r + 1) % p];
        ASSERT_EQ(here.size(), next.size());
        for (std::size_t i = 0; i < here.size(); i += 2) {
          EXPECT_EQ(here[i].chunks[0], next[i + 1].chunks[0]) << name << " p=" << p;
          EXPECT_EQ(here[i].peers[0], (r + 1) % p);
          EXPECT_EQ(next[i + 1].peers[0], r);
        }
      }
    }
  }
}

/// The notes say that halving and doubling require a power of two. They do not.
TEST(Exercise, HalvingAndDoublingOfSixRanks) {
  const Schedule schedule = algorithm("allreduce/halving_doubling").schedule({.ranks = 6});
  EXPECT_EQ(verify(schedule).violation_count, 0);
  EXPECT_EQ(schedule.rounds(), 6);
  const Outcome outcome = interpret(schedule, counting_up(6), Pace::in_order);
  ASSERT_EQ(outcome.fault, Outcome::Fault::none) << outcome.where;
  // 6·(0 + … + 5) + 6·(c + 1)
  for (std::uint32_t r = 0; r < 6; ++r) {
    for (std::int64_t c = 0; c < 6; ++c) {
      EXPECT_EQ(outcome.holdings[r][static_cast<std::size_t>(c)], Value{90 + 6 * (c + 1)});
    }
  }
}

}  // namespace
}  // namespace tutti::test
