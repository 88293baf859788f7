#include "lifeline/failure_inquiry.hpp"

#include <gtest/gtest.h>

#include <tutti/message.hpp>

/// The verdicts that users read.
namespace tutti::test {
namespace {

const std::vector<std::string> places{"a, process 10", "a, process 11", "b, process 12"};

TEST(FailureInquiry, AbortOutranksOtherReports) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::peer_lost, .ranks = {2}, .words = "lost"}},
                  {1, {.code = ErrorCode::aborted, .ranks = {1}, .words = "rank 1 aborted it"}}},
      .gone = {{2, "its process has ended"}},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict(),
            (Verdict{.code = ErrorCode::aborted, .ranks = {1}, .words = "rank 1 aborted it"}));
}

TEST(FailureInquiry, LostRankIsNamedWithItsLastStatus) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::timed_out, .ranks = {1}, .call = 9, .words = "late"}}},
      .statuses = {{2, {.call = 8, .words = "call 8, barrier", .runs = true, .seconds = 0.25}}},
      .gone = {{1, "it closed the connection"}, {2, "its process has ended"}},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict(),
            (Verdict{.code = ErrorCode::peer_lost,
                     .ranks = {1, 2},
                     .words = "rank 1 (a, process 11) is gone: it closed the connection; rank 2 "
                              "(b, process 12) is gone: its process has ended; it was last seen in "
                              "call 8, barrier, for 0.2 "
                              "s"}));
}

TEST(FailureInquiry, RanksThatWaitForEachOtherFormACycle) {
  FailureInquiry inquiry{
      .reports = {{2, {.code = ErrorCode::timed_out, .ranks = {0}, .words = "late"}}},
      .statuses = {{0, {.waits = {{.rank = 1, .receives = true, .blocks = true}}}},
                   {1,
                    {.waits = {{.rank = 0, .tag = 4, .receives = false, .blocks = true},
                               {.rank = 2, .blocks = true}}}},
                   {2, {.waits = {{.rank = 0, .receives = true, .blocks = true}}}}},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict(),
            (Verdict{.code = ErrorCode::timed_out,
                     .ranks = {0, 1, 2},
                     .words = "ranks wait for each other in a cycle: rank 0 (a, process 10) waits "
                              "for a message from rank 1, rank 1 (a, process 11) waits for rank 2 "
                              "to receive one, rank 2 (b, process 12) waits for a message from "
                              "rank 0; let one rank send first, or let all send and receive at "
                              "once"}));
  // Of a rank that computes, no message in the background closes the cycle.
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    FailureInquiry slow = inquiry;
    slow.statuses[rank].waits.back().blocks = false;
    EXPECT_EQ(slow.verdict().ranks, std::vector<std::uint32_t>{0}) << "rank " << rank;
  }
  inquiry.statuses[1].waits.pop_back();
  EXPECT_EQ(inquiry.verdict().ranks, std::vector<std::uint32_t>{0});
}

/// Both ends of a message have begun: it is late, and no call is missing.
TEST(FailureInquiry, MessagesWithBothEndsFormNoCycle) {
  const auto verdict_of = [](RankStatus of_zero, RankStatus of_one) {
    return FailureInquiry{
        .reports = {{0, {.code = ErrorCode::timed_out, .ranks = {1}, .words = "late"}}},
        .statuses = {{0, std::move(of_zero)}, {1, std::move(of_one)}},
        .whereabouts = places}
        .verdict()
        .words;
  };
  const auto is_cycle = [](const std::string& words) {
    return words.find("in a cycle") != std::string::npos;
  };
  using Wait = RankStatus::Wait;
  const Wait send_3{.rank = 1, .tag = 3, .receives = false, .blocks = true};
  const RankStatus sender{.waits = {send_3}};
  const auto receiver = [](Wait receive) {
    return RankStatus{.waits = {{.rank = 0, .tag = 9, .receives = true, .blocks = true}, receive}};
  };
  EXPECT_TRUE(is_cycle(verdict_of(sender, receiver({.rank = 0, .tag = 4, .receives = true}))));
  EXPECT_FALSE(is_cycle(verdict_of(sender, receiver({.rank = 0, .tag = 3, .receives = true}))));
  EXPECT_FALSE(
      is_cycle(verdict_of(sender, receiver({.rank = 0, .tag = any_tag, .receives = true}))));
  EXPECT_FALSE(
      is_cycle(verdict_of(sender, receiver({.rank = any_rank, .tag = 3, .receives = true}))));
  // What is beyond the longest list may be the other end.
  RankStatus long_list = receiver({.rank = 0, .tag = 4, .receives = true});
  long_list.has_more_waits = true;
  EXPECT_FALSE(is_cycle(verdict_of(sender, long_list)));
}

TEST(FailureInquiry, MinorityIsAtFaultForDifferentCalls) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::mismatch, .ranks = {2}, .call = 3, .words = "differs"}}},
      .statuses = {{0, {.call = 3, .signature = 5, .asked = "call 3, barrier"}},
                   {1, {.call = 3, .signature = 7, .asked = "call 3, broadcast"}},
                   {2, {.call = 3, .signature = 5, .asked = "call 3, barrier"}}},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict(),
            (Verdict{.code = ErrorCode::mismatch,
                     .ranks = {1},
                     .words = "ranks make different calls: rank 0 (a, process 10) and 1 more "
                              "makes call 3, barrier, but rank 1 (a, process 11) makes call 3, "
                              "broadcast; make the same calls in the same order on all ranks",
                     .calls = {{.rank = 0, .words = "call 3, barrier"},
                               {.rank = 1, .words = "call 3, broadcast"}}}));
}

TEST(FailureInquiry, ReporterIsBelievedIfTheCallIsForgotten) {
  const FailureInquiry inquiry{
      .reports = {{1, {.code = ErrorCode::mismatch, .ranks = {0}, .call = 3, .words = "differs"}}},
      .statuses = {{0, {.call = 9, .words = "call 9, barrier", .seconds = 12}}},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict(),
            (Verdict{.code = ErrorCode::mismatch,
                     .ranks = {0},
                     .words = "differs; rank 0 (a, process 10) was last seen 12 s after call 9, "
                              "barrier"}));
}

/// Ranks got past the call in which they differ, and noticed it in the next.
TEST(FailureInquiry, FirstDifferenceIsQuoted) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::mismatch, .ranks = {2}, .call = 4, .words = "differs"}}},
      .statuses = {{0,
                    {.call = 4,
                     .about = 4,
                     .signature = 5,
                     .asked = "call 4, barrier",
                     .earlier = {{.call = 3, .signature = 6, .words = "call 3, gather"}}}},
                   {1,
                    {.call = 4,
                     .about = 4,
                     .signature = 5,
                     .asked = "call 4, barrier",
                     .earlier = {{.call = 3, .signature = 6, .words = "call 3, gather"}}}},
                   {2,
                    {.call = 3,
                     .earlier = {{.call = 3, .signature = 9, .words = "call 3, scatter"}}}}},
      .whereabouts = places};
  const Verdict verdict = inquiry.verdict();
  EXPECT_EQ(verdict.ranks, std::vector<std::uint32_t>{2});
  EXPECT_NE(verdict.words.find("makes call 3, gather, but"), std::string::npos) << verdict.words;
  EXPECT_NE(verdict.words.find("makes call 3, scatter;"), std::string::npos) << verdict.words;
}

/// Its last status is of another call than that of the others.
TEST(FailureInquiry, UnresponsiveRankIsNoMismatch) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::timed_out, .ranks = {2}, .call = 5, .words = "nothing"}}},
      .statuses = {{0, {.call = 5, .about = 5, .signature = 7, .asked = "call 5, reduce"}},
                   {1, {.call = 5, .about = 5, .signature = 7, .asked = "call 5, reduce"}},
                   {2, {.call = 4, .about = 4, .signature = 9, .asked = "call 4, barrier"}}},
      .unresponsive = {2},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict().code, ErrorCode::timed_out);
  EXPECT_EQ(inquiry.verdict().ranks, std::vector<std::uint32_t>{2});
}

TEST(FailureInquiry, RankThatIsFurthestBehindIsLate) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::timed_out, .ranks = {1}, .call = 5, .words = "nothing"}}},
      .statuses = {{0, {.call = 5, .words = "call 5, barrier", .runs = true, .seconds = 1}},
                   {1, {.call = 4, .words = "call 4, reduce", .runs = true, .seconds = 2}},
                   {2, {.call = 3, .words = "call 3, reduce", .seconds = 2}}},
      .whereabouts = places};
  EXPECT_EQ(
      inquiry.verdict(),
      (Verdict{.code = ErrorCode::timed_out,
               .ranks = {2},
               .words =
                   "rank 0 (a, process 10) waited until its deadline: nothing; rank 2 (b, process "
                   "12) was last seen 2.0 s after call 3, reduce"}));
}

/// Other ranks that are behind may wait for it.
TEST(FailureInquiry, UnresponsiveRankIsLate) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::timed_out, .ranks = {1}, .call = 5, .words = "nothing"}}},
      .statuses = {{0, {.call = 5, .words = "call 5, barrier", .runs = true, .seconds = 1}},
                   {1, {.call = 4, .words = "call 4, reduce", .runs = true, .seconds = 2}}},
      .unresponsive = {2},
      .whereabouts = places};
  EXPECT_EQ(
      inquiry.verdict(),
      (Verdict{.code = ErrorCode::timed_out,
               .ranks = {2},
               .words =
                   "rank 0 (a, process 10) waited until its deadline: nothing; rank 2 (b, process "
                   "12) does not reply, and was not yet seen in any call"}));
}

/// The rank without a call waits for a message of the unresponsive one.
TEST(FailureInquiry, RankThatRepliesIsNotLateBeforeItsFirstCall) {
  const FailureInquiry inquiry{
      .reports = {{0, {.code = ErrorCode::timed_out, .ranks = {1, 2}, .call = 1, .words = "late"}}},
      .statuses = {{0, {.call = 1, .words = "call 1, barrier", .runs = true}}, {1, {}}},
      .unresponsive = {2},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict().ranks, std::vector<std::uint32_t>{2});
}

/// It started the agreement, and fell silent before it could send its report.
TEST(FailureInquiry, UnresponsiveRankIsLateWithoutAReport) {
  const FailureInquiry inquiry{.unresponsive = {1}, .whereabouts = {"here", "there"}};
  const Verdict verdict = inquiry.verdict();
  EXPECT_EQ(verdict.code, ErrorCode::timed_out);
  EXPECT_EQ(verdict.ranks, std::vector<std::uint32_t>{1});
  EXPECT_NE(verdict.words.find("rank 1 (there) does not reply"), std::string::npos)
      << verdict.words;
}

TEST(FailureInquiry, OtherFailuresAreThoseOfTheFirstReporter) {
  const FailureInquiry inquiry{
      .reports = {{1, {.code = ErrorCode::peer_lost, .ranks = {2}, .words = "no connection"}},
                  {2, {.code = ErrorCode::peer_lost, .ranks = {1}, .words = "none either"}}},
      .whereabouts = places};
  EXPECT_EQ(inquiry.verdict(), (Verdict{.code = ErrorCode::peer_lost,
                                        .ranks = {2},
                                        .words = "rank 1 (a, process 11): no connection"}));
  EXPECT_EQ(FailureInquiry{}.verdict().code, ErrorCode::internal);
}

}  // namespace
}  // namespace tutti::test
