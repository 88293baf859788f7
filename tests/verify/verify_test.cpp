#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/draft.hpp"
#include "support/interpreter.hpp"

namespace tutti::test {
namespace {

using Kind = Violation::Kind;

Schedule by_hand(Collective collective, std::uint64_t chunks, std::uint32_t rounds,
                 std::vector<std::vector<DraftStep>> programs) {
  const auto ranks = static_cast<std::uint32_t>(programs.size());
  return schedule(
      {.name = "by hand",
       .contract = {.collective = collective, .ranks = ranks, .root = {}, .chunks = chunks},
       .rounds = rounds,
       .programs = std::move(programs)});
}

bool has(const Verification& verdict, Kind kind) {
  for (const Violation& each : verdict.violations) {
    if (each.kind == kind) return true;
  }
  return false;
}

/// Both ranks receive before they send.
Schedule both_receive_first() {
  return by_hand(
      Collective::allreduce, 1, 2,
      {{fold(0, {1}, 0, {0}), send(1, {1}, {0})}, {fold(0, {0}, 1, {0}), send(1, {0}, {0})}});
}

TEST(Verify, FindsADeadlockOfTwoRanks) {
  const Verification verdict = verify(both_receive_first(), Aliasing::out_of_place);
  ASSERT_FALSE(verdict.ok());
  const Violation& first = verdict.violations.front();
  EXPECT_EQ(name(first.kind), "deadlock");
  EXPECT_EQ(first.round, 0);
  EXPECT_EQ(first.step, 0);
  EXPECT_NE(first.message.find("waits in a cycle of 2"), std::string::npos) << first.message;
  EXPECT_NE(first.message.find("rank 0 step 0"), std::string::npos) << first.message;
  EXPECT_NE(first.message.find("rank 1 step 0"), std::string::npos) << first.message;
  EXPECT_NE(first.message.find("2 receives never run"), std::string::npos) << first.message;
}

TEST(Verify, FindsADeadlockInARing) {
  std::vector<std::vector<DraftStep>> programs;
  for (const std::uint32_t r : {0U, 1U, 2U, 3U}) {
    programs.push_back({receive(0, {(r + 3) % 4}, {0}), send(0, {(r + 1) % 4}, {0})});
  }
  const Verification verdict = verify(by_hand(Collective::allreduce, 1, 1, programs));
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(name(verdict.violations.front().kind), "deadlock");
  EXPECT_NE(verdict.violations.front().message.find("circle of 4"), std::string::npos);
}

/// Each rank sends first. In place it may overwrite the data only after the send. If a send waits
/// for its receive, it never completes.
TEST(Verify, FindsADeadlockOfSynchronousSends) {
  const Schedule trade = by_hand(
      Collective::allreduce, 1, 2,
      {{send(0, {1}, {0}), fold(1, {1}, 0, {0})}, {send(0, {0}, {0}), fold(1, {0}, 1, {0})}});
  EXPECT_EQ(fault_in_meaning(trade, 1, Pace::in_order), "");
  EXPECT_FALSE(has(verify(trade, Aliasing::out_of_place), Kind::deadlock));
  EXPECT_TRUE(has(verify(trade, Aliasing::in_place), Kind::deadlock));
  EXPECT_TRUE(has(verify(trade), Kind::deadlock));
}

TEST(Verify, AllowsAnExchangeInOneRound) {
  const Schedule trade = by_hand(
      Collective::allreduce, 1, 1,
      {{send(0, {1}, {0}), fold(0, {1}, 0, {0})}, {send(0, {0}, {0}), fold(0, {0}, 1, {0})}});
  EXPECT_TRUE(verify(trade).ok());
}

/// Out of place the block was never written; in place another block is in its place.
TEST(Verify, DistinguishesAlltoallBlocksInPlace) {
  const Schedule nothing_moves = by_hand(Collective::alltoall, 4, 0, {{}, {}});
  const Verification apart = verify(nothing_moves, Aliasing::out_of_place);
  const Verification in_place = verify(nothing_moves, Aliasing::in_place);
  ASSERT_EQ(apart.violation_count, 2);
  ASSERT_EQ(in_place.violation_count, 2);
  EXPECT_NE(apart.violations[0].message.find("was never written"), std::string::npos);
  EXPECT_NE(in_place.violations[0].message.find("holds a1, not b2"), std::string::npos);
  EXPECT_EQ(verify(nothing_moves).violation_count, 4);
}

TEST(Verify, AllowsABarrierToRepeatContributionsInAnyOrder) {
  const std::vector<std::vector<DraftStep>> twice{
      {send(0, {1}, {0}), fold(0, {1}, 0, {0}), send(1, {1}, {0}), fold(1, {1}, 0, {0})},
      {send(0, {0}, {0}), fold(0, {0}, 0, {0}), send(1, {0}, {0}), fold(1, {0}, 0, {0})}};
  EXPECT_TRUE(verify(by_hand(Collective::barrier, 1, 2, twice)).ok());
  EXPECT_TRUE(has(verify(by_hand(Collective::allreduce, 1, 2, twice)), Kind::wrong_output));
}

TEST(Verify, RequiresABarrierToHearFromEveryRank) {
  const Verification verdict =
      verify(by_hand(Collective::barrier, 1, 1, {{send(0, {1}, {0})}, {fold(0, {0}, 0, {0})}}));
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.violations.front().message.find("holds a0 and lacks b0"), std::string::npos);
}

TEST(Verify, CountsStepsAndMessages) {
  const Verification verdict = verify(algorithm("broadcast/flat").schedule({.ranks = 5}));
  EXPECT_EQ(verdict.steps, 5);
  EXPECT_EQ(verdict.messages, 4);
}

TEST(Verify, CountsAllViolationsAndKeepsTheFirst) {
  const Schedule nothing_moves = by_hand(Collective::broadcast, 300, 0, {{}, {}});
  const Verification verdict = verify(nothing_moves, Aliasing::out_of_place);
  EXPECT_EQ(verdict.violation_count, 300);
  ASSERT_FALSE(verdict.violations.empty());
  EXPECT_LT(verdict.violations.size(), 300);
  EXPECT_EQ(verdict.violations[1].chunk, Chunk{1});
}

TEST(Verify, TerminatesOnAWrongLongSum) {
  constexpr std::uint32_t many = 200000;
  std::vector<std::vector<DraftStep>> programs(2);
  for (std::uint32_t i = 0; i < many; ++i) {
    programs[0].push_back(fold(i, {1}, 0, {0}));
    programs[1].push_back(send(i, {0}, {0}));
  }
  const Schedule repeats = by_hand(Collective::reduce, 1, many, programs);
  EXPECT_TRUE(has(verify(repeats, Aliasing::out_of_place), Kind::wrong_output));
}

TEST(Verify, RequiresAValidContract) {
  Schedule wrong = by_hand(Collective::scatter, 2, 0, {{}, {}});
  wrong.contract.chunks = 3;
  EXPECT_THROW((void)verify(wrong), Error);
}

TEST(Verify, RejectsSchedulesThatAreTooLarge) {
  try {
    (void)verify(by_hand(Collective::allreduce, std::uint64_t{1} << 60, 0, {{}, {}}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), "unsupported");
  }
}

TEST(Verify, NamesEveryKind) {
  EXPECT_EQ(name(Kind::malformed), "malformed");
  EXPECT_EQ(name(Kind::unmatched), "unmatched");
  EXPECT_EQ(name(Kind::chunk_mismatch), "chunk mismatch");
  EXPECT_EQ(name(Kind::round_mismatch), "round mismatch");
  EXPECT_EQ(name(Kind::race), "race");
  EXPECT_EQ(name(Kind::deadlock), "deadlock");
  EXPECT_EQ(name(Kind::unwritten), "unwritten");
  EXPECT_EQ(name(Kind::wrong_output), "wrong output");
  EXPECT_EQ(name(Kind::disagreement), "disagreement");
}

}  // namespace
}  // namespace tutti::test
