#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/schedule/trace.hpp>

#include "support/draft.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

std::string held(const Trace& trace, std::uint32_t rank, std::uint64_t chunk) {
  return to_string(trace.symbols(), trace.held(rank, Chunk{chunk}));
}

TEST(Trace, ShowsWhatRanksHoldAfterEachRound) {
  const Schedule schedule = algorithm("broadcast/chain").schedule({.ranks = 3});
  Trace trace(schedule);
  EXPECT_EQ(trace.round(), 0);
  EXPECT_EQ(held(trace, 0, 0), "a0");
  EXPECT_EQ(held(trace, 1, 0), "-");
  trace.advance();
  EXPECT_EQ(trace.round(), 1);
  EXPECT_EQ(held(trace, 1, 0), "a0");
  EXPECT_EQ(held(trace, 2, 0), "-");
  trace.advance();
  EXPECT_EQ(held(trace, 2, 0), "a0");
}

TEST(Trace, ShowsHowSumsGrowInARing) {
  const Schedule schedule = algorithm("reduce_scatter/ring").schedule({.ranks = 4});
  Trace trace(schedule);
  trace.advance();
  EXPECT_EQ(held(trace, 2, 0), "b0+c0");
  trace.advance();
  EXPECT_EQ(held(trace, 3, 0), "(b0+c0)+d0");
  trace.advance();
  EXPECT_EQ(held(trace, 0, 0), "((b0+c0)+d0)+a0");
}

TEST(Trace, EndsWithTheOutputsOfTheContract) {
  for (const Algorithm& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    const Schedule schedule = algorithm.schedule(small_problem(algorithm));
    const Contract& contract = schedule.contract;
    Trace trace(schedule);
    while (trace.round() < schedule.rounds()) trace.advance();
    for (std::uint32_t r = 0; r < contract.ranks; ++r) {
      const ChunkSeries output = contract.output(r);
      for (std::uint64_t i = 0; i < output.count; ++i) {
        const std::uint64_t count = trace.symbols().contributions(trace.held(r, output[i]));
        EXPECT_GE(count, contract.origin(output[i]) ? 1 : contract.ranks);
      }
    }
  }
}

TEST(Trace, RejectsAnIncorrectScheduleWithTheReason) {
  Draft wrong = draft(algorithm("broadcast/chain").schedule({.ranks = 3}));
  wrong.programs[2].clear();
  const Schedule schedule = test::schedule(wrong);
  try {
    const Trace trace(schedule);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), "invalid_argument");
    EXPECT_NE(std::string(error.what()).find("unmatched: rank 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti::test
