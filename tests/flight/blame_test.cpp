#include "flight/blame.hpp"

#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/made_up_dump.hpp"

namespace tutti::test {
namespace {

using Verdict = Blame::Verdict;
using Ranks = std::vector<std::uint32_t>;

/// Calls 1 to `last`, a tenth of a second each, begun `late` seconds late.
std::vector<MadeUpCall> calls(std::uint64_t last, double late = 0) {
  std::vector<MadeUpCall> made;
  for (std::uint64_t number = 1; number <= last; ++number) {
    const double begin = 0.1 * static_cast<double>(number);
    made.push_back({.number = number, .begun = begin + late, .ended = begin + 0.09});
  }
  return made;
}

/// Four ranks that have finished sixteen calls and were dumped soon after.
std::vector<MadeUpDump> four() {
  std::vector<MadeUpDump> dumps;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    dumps.push_back({.rank = rank, .at = 1.8, .reason = "SIGUSR2", .calls = calls(16)});
  }
  return dumps;
}

struct Judged {
  Verdict verdict;
  Ranks accused;
  std::string text;
  std::optional<std::uint64_t> call;
};

Judged judge(const std::vector<MadeUpDump>& made) {
  std::vector<FlightDump> dumps;
  for (const MadeUpDump& each : made) dumps.push_back(parse_dump(each.text(), "made up"));
  const std::vector<Blame> verdicts = blame(dumps);
  EXPECT_EQ(verdicts.size(), 1U);
  const Blame& one = verdicts.front();
  return {.verdict = one.verdict, .accused = one.accused, .text = one.text, .call = one.call};
}

void expect(const std::string& golden, const std::vector<MadeUpDump>& made, Verdict verdict,
            const Ranks& accused) {
  const Judged judged = judge(made);
  EXPECT_EQ(name(judged.verdict), name(verdict)) << judged.text;
  EXPECT_EQ(judged.accused, accused) << judged.text;
  expect_golden("flight/" + golden + ".txt", judged.text + "\n");
}

TEST(Blame, NoRankIfNothingIsWrong) {
  expect("fine", four(), Verdict::fine, {});
  // A call that has just begun at the time of the dump is normal.
  auto dumps = four();
  dumps[0].calls.push_back({.number = 17, .begun = 1.7});
  EXPECT_EQ(judge(dumps).verdict, Verdict::fine);
  for (MadeUpDump& each : dumps) each.calls.clear();
  expect("no-calls", dumps, Verdict::fine, {});
}

TEST(Blame, RankThatIsStillInAnEarlierCall) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    each.at = 7;
    if (each.rank == 3) {
      each.calls.back().ended.reset();
    } else {
      each.calls.push_back({.number = 17, .begun = 1.8, .wait = {{.rank = 3, .round = 1}}});
    }
  }
  expect("behind-in-call", dumps, Verdict::behind, {3});
  EXPECT_EQ(judge(dumps).call, 17U);
}

TEST(Blame, RankThatHasNotBegunTheCall) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    each.at = 7;
    if (each.rank == 1) continue;
    each.calls.push_back({.number = 17, .begun = 1.8, .site = "step 17"});
  }
  dumps[2].calls.clear();
  expect("behind-before-call", dumps, Verdict::behind, {1, 2});
}

TEST(Blame, RankThatBeganAfterTheOthersFailed) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    const bool late = each.rank == 2;
    each.at = 80;
    each.failure = late ? "rank 0 is gone" : "after 60 s rank 2 is still waited for";
    each.reason = "error";
    each.calls.push_back({.number = 17,
                          .begun = late ? 70 : 2.0,
                          .ended = late ? 70.1 : 62.0 + each.rank,
                          .has_failed = true});
  }
  expect("behind-too-late", dumps, Verdict::behind, {2});
}

TEST(Blame, RankThatMakesAnotherCall) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    each.at = 7;
    const bool other = each.rank == 2;
    each.calls.push_back({.number = 17,
                          .begun = 1.8,
                          .ended = 2.0,
                          .count = other ? 100U : 200U,
                          .site = other ? "loss" : "gradients",
                          .has_failed = true});
  }
  expect("mismatch", dumps, Verdict::mismatch, {2});
  EXPECT_EQ(judge(dumps).call, 17U);
}

TEST(Blame, NeitherOfTwoRanksThatDiffer) {
  const MadeUpDump one{.rank = 0, .ranks = 2, .calls = {{.number = 1, .count = 10}}};
  const MadeUpDump other{.rank = 1, .ranks = 2, .calls = {{.number = 1, .count = 20}}};
  expect("mismatch-of-two", {one, other}, Verdict::mismatch, {});
}

TEST(Blame, RankThatSkippedACall) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    if (each.rank != 1) {
      each.calls.push_back({.number = 17, .begun = 1.75, .ended = 1.76, .count = 5});
      each.calls.push_back({.number = 18, .begun = 1.77, .ended = 1.78, .count = 6});
    } else {
      each.calls.push_back({.number = 17, .begun = 1.77, .ended = 1.78, .count = 6});
    }
  }
  expect("mismatch-left-out", dumps, Verdict::mismatch, {1});
}

TEST(Blame, RankThatCrashed) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    if (each.rank == 1) {
      each.reason = "SIGSEGV";
      each.at = 2;
      continue;
    }
    each.reason = "error";
    each.failure = "rank 1 is gone";
    each.at = 3;
    each.calls.push_back({.number = 17, .begun = 1.8, .ended = 2.5, .has_failed = true});
  }
  expect("hit", dumps, Verdict::hit, {1});
}

TEST(Blame, RankWithoutDump) {
  auto dumps = four();
  dumps.pop_back();
  for (MadeUpDump& each : dumps) {
    each.reason = "error";
    each.failure = "rank 3 on node2 is gone";
    each.at = 3;
    each.calls.push_back({.number = 17, .begun = 1.8, .ended = 2.5, .has_failed = true});
  }
  expect("missing", dumps, Verdict::missing, {3});
}

TEST(Blame, RankThatDoesNotWaitWhenAllAreInOneCall) {
  auto dumps = four();
  for (MadeUpDump& each : dumps) {
    each.at = 9;
    each.calls.push_back({.number = 17, .begun = 1.8});
    if (each.rank == 2) continue;
    each.calls.back().wait = {
        {.rank = (each.rank + 3) % 4, .round = each.rank, .bytes_done = 4096}};
  }
  dumps[0].calls.back().wait->rank = 2;
  expect("stuck", dumps, Verdict::stuck, {2});
}

TEST(Blame, SlowRank) {
  auto dumps = four();
  dumps[2].calls = calls(16, 0.04);
  expect("slow", dumps, Verdict::slow, {2});
  dumps[1].host = "node2";
  EXPECT_NE(judge(dumps).text.find("clocks of several hosts"), std::string::npos);
  // A short delay is ignored.
  dumps[2].calls = calls(16, 0.00005);
  EXPECT_EQ(judge(dumps).verdict, Verdict::fine);
}

TEST(Blame, JudgesEachCommunicatorSeparately) {
  std::vector<FlightDump> dumps;
  for (MadeUpDump each : four()) {
    dumps.push_back(parse_dump(each.text(), "made up"));
    each.communicator = 1;
    each.name = "rows";
    if (each.rank < 3) dumps.push_back(parse_dump(each.text(), "made up"));
  }
  const std::vector<Blame> verdicts = blame(dumps);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].name, "rows");
  EXPECT_EQ(verdicts[0].verdict, Verdict::missing);
  EXPECT_EQ(verdicts[1].verdict, Verdict::fine);
}

TEST(Blame, UsesTheLatestDumpOfARank) {
  auto dumps = four();
  MadeUpDump earlier = dumps[1];
  earlier.at = 1;
  earlier.reason = "SIGSEGV";
  dumps.insert(dumps.begin(), earlier);
  dumps.push_back(earlier);
  EXPECT_EQ(judge(dumps).verdict, Verdict::fine);
}

TEST(RankList, AbbreviatesConsecutiveRanks) {
  const auto list = [](const Ranks& ranks) { return rank_list(ranks); };
  EXPECT_EQ(list({3}), "rank 3");
  EXPECT_EQ(list({0, 1}), "ranks 0 and 1");
  EXPECT_EQ(list({0, 1, 2, 7}), "ranks 0 to 2 and 7");
  EXPECT_EQ(list({0, 2, 3, 5, 6, 7}), "ranks 0, 2, 3 and 5 to 7");
}

}  // namespace
}  // namespace tutti::test
