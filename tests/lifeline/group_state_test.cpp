#include "lifeline/group_state.hpp"

#include <deque>
#include <memory>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "core/packed_texts.hpp"
#include "lifeline/fake_participant.hpp"

/// The state machines of all ranks of a communicator, without threads and in simulated time.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = GroupState::Clock;

class SimulatedGroup {
 public:
  explicit SimulatedGroup(std::uint32_t size) : whereabouts_(first_member + size, "a, process 1") {
    std::vector<std::uint32_t> members;
    for (std::uint32_t rank = 0; rank < size; ++rank) members.push_back(first_member + rank);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      ranks_.push_back(std::make_unique<One>());
      One& one = *ranks_.back();
      GroupState::Environment environment{
          .send =
              [this, rank](std::uint32_t to, const ControlMessage& message, Delivery delivery) {
                const std::uint32_t other = to - first_member;
                const bool is_connected = !unconnected_.contains({rank, other});
                if (is_connected == (delivery == Delivery::if_not_connected)) {
                  if (delivery != Delivery::connects) return;
                }
                connect(rank, other);
                messages_.push_back({.from = first_member + rank, .to = to, .message = message});
              },
          .request_ticks = [&one] { one.wants_ticks = true; },
          .whereabouts = whereabouts_};
      one.state = std::make_unique<GroupState>(
          GroupState::Config{.communicator = 5, .self = rank, .members = members, .patience = 2s},
          std::move(environment), one.alarm, one.participant);
    }
  }

  [[nodiscard]] GroupState& operator[](std::uint32_t rank) { return *ranks_[rank]->state; }
  [[nodiscard]] FakeParticipant& participant(std::uint32_t rank) {
    return ranks_[rank]->participant;
  }
  [[nodiscard]] bool alarm(std::uint32_t rank) const { return ranks_[rank]->alarm; }
  [[nodiscard]] bool wants_ticks(std::uint32_t rank) const { return ranks_[rank]->wants_ticks; }

  /// The connection from `witness` to `rank` breaks.
  void lose(std::uint32_t witness, std::uint32_t rank) {
    (*this)[witness].lose(first_member + rank, "it closed the connection", now);
  }
  /// These two are not connected, until one sends the other something that connects.
  void disconnect(std::uint32_t a, std::uint32_t b) { unconnected_.insert({{a, b}, {b, a}}); }
  [[nodiscard]] bool are_connected(std::uint32_t a, std::uint32_t b) const {
    return !unconnected_.contains({a, b});
  }
  /// The rank receives nothing from now on.
  void stop(std::uint32_t rank) { ranks_[rank]->is_stopped = true; }

  /// Delivers all messages, those that follow from them too; or the next `most`.
  void deliver(std::uint32_t most = ~0U) {
    for (; most > 0 && !messages_.empty(); --most) {
      const Envelope envelope = messages_.front();
      messages_.pop_front();
      One& to = *ranks_[envelope.to - first_member];
      if (!to.is_stopped) to.state->receive(envelope.from, envelope.message, now);
    }
  }
  void advance(Clock::duration time) {
    for (const Clock::time_point end = now + time; now < end; now += 20ms) {
      for (const auto& one : ranks_) {
        if (!one->is_stopped) (void)one->state->tick(now);
      }
      deliver();
    }
  }

  Clock::time_point now{};

 private:
  /// Members of the lifeline are not numbered like ranks.
  static constexpr std::uint32_t first_member = 10;

  struct One {
    std::atomic<bool> alarm{false};
    bool wants_ticks = false;
    bool is_stopped = false;
    FakeParticipant participant{};
    std::unique_ptr<GroupState> state{};
  };
  struct Envelope {
    std::uint32_t from;
    std::uint32_t to;
    ControlMessage message;
  };

  void connect(std::uint32_t a, std::uint32_t b) {
    unconnected_.erase({a, b});
    unconnected_.erase({b, a});
  }

  std::vector<std::string> whereabouts_;
  std::vector<std::unique_ptr<One>> ranks_;
  std::deque<Envelope> messages_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> unconnected_;
};

TEST(GroupState, OneLostConnectionIsTheVerdictOfAllRanks) {
  SimulatedGroup group(4);
  group.stop(2);
  group.lose(3, 2);
  EXPECT_TRUE(group.wants_ticks(3));
  group.advance(3s);  // Ranks 0 and 1 wait for the reply of rank 2.
  const Verdict expected{.code = ErrorCode::peer_lost,
                         .ranks = {2},
                         .words = "rank 2 (a, process 1) is gone: it closed the connection"};
  for (const std::uint32_t rank : {0U, 1U, 3U}) {
    ASSERT_TRUE(group[rank].verdict()) << rank;
    EXPECT_EQ(group[rank].verdict()->verdict, expected);
    EXPECT_TRUE(group[rank].is_gone(2));
    EXPECT_TRUE(group.alarm(rank));
    EXPECT_TRUE(group.participant(rank).was_sealed);
    EXPECT_TRUE(group.participant(rank).was_stopped);
  }
}

TEST(GroupState, VerdictIsConfirmedByAcknowledgementsOrTime) {
  SimulatedGroup group(2);
  group[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = "enough"}, group.now);
  EXPECT_FALSE(group[1].is_verdict_confirmed(group.now));
  group.deliver();
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_TRUE(group[rank].is_verdict_confirmed(group.now)) << rank;
  }
  SimulatedGroup slow(2);
  slow[0].report({.code = ErrorCode::aborted, .ranks = {0}, .words = "enough"}, slow.now);
  slow.deliver(2);  // The question and its answer, but not the decision.
  EXPECT_TRUE(slow[0].verdict());
  EXPECT_FALSE(slow[0].is_verdict_confirmed(slow.now));
  EXPECT_TRUE(slow[0].is_verdict_confirmed(slow.now + 600ms));
  SimulatedGroup silent(2);
  silent.stop(1);
  silent[0].report({.code = ErrorCode::timed_out, .ranks = {1}, .words = "late"}, silent.now);
  silent.advance(600ms);
  ASSERT_TRUE(silent[0].verdict());
  EXPECT_EQ(silent[0].verdict()->unresponsive, std::vector<std::uint32_t>{1});
  EXPECT_TRUE(silent[0].is_verdict_confirmed(silent.now)) << "a silent rank need not acknowledge";
}

TEST(GroupState, OwnReportIsTheVerdictWithoutAnAgreement) {
  SimulatedGroup group(3);
  group.participant(0).done = 4;
  group[0].report({.code = ErrorCode::timed_out, .ranks = {2}, .words = "late"}, group.now);
  EXPECT_FALSE(group[0].verdict());
  const AgreedVerdict settled = group[0].settle();
  EXPECT_EQ(settled.verdict.words, "late");
  EXPECT_EQ(settled.completed, 4U);
  EXPECT_TRUE(group.participant(0).was_stopped);
}

TEST(GroupState, DecisionHoldsTheInputsOfTheRanksThatWereAsked) {
  SimulatedGroup group(3);
  const std::vector<std::uint32_t> among{0, 2};
  EXPECT_EQ(group[0].ask("x", among, group.now), 1U);
  EXPECT_EQ(group[2].ask("y", among, group.now), 1U);
  EXPECT_FALSE(group[0].decision(1));
  group.deliver();
  for (const std::uint32_t rank : among) {
    EXPECT_EQ(group[rank].decision(1), R"({"0":"x","2":"y"})");
  }
}

TEST(GroupState, ExchangeIsCompleteOnceAllRanksHaveContributed) {
  SimulatedGroup group(4);
  const std::vector<std::uint32_t> ranks{1, 3, 2};
  group[1].contribute(ranks, 7, "from 1");
  group[2].contribute(ranks, 7, "from 2");
  group.deliver();
  EXPECT_FALSE(group[1].exchanged(ranks, 7));
  group[3].contribute(ranks, 7, "from 3");
  group.deliver();
  const std::string all = pack({"from 1", "from 3", "from 2"});
  EXPECT_EQ(group[1].exchanged(ranks, 7), all);
  EXPECT_FALSE(group[2].exchanged(ranks, 7)) << "the first rank has not sent it yet";
  group.deliver();
  EXPECT_EQ(group[2].exchanged(ranks, 7), all);
  EXPECT_EQ(group[3].exchanged(ranks, 7), all);
  EXPECT_FALSE(group[3].lacks_any(ranks));
  group[1].leave(0);
  group.deliver();
  EXPECT_TRUE(group[3].lacks_any(ranks));
}

/// A communicator that shrinks again and again keeps nothing of earlier exchanges.
TEST(GroupState, ExchangesThatAreOverAreForgotten) {
  SimulatedGroup group(2);
  const std::vector<std::uint32_t> ranks{0, 1};
  for (const std::uint32_t rank : ranks) group[rank].contribute(ranks, 3, "third");
  group.deliver();
  for (const std::uint32_t rank : ranks) {
    EXPECT_TRUE(group[rank].exchanged(ranks, 3)) << rank;
    group.deliver();
    EXPECT_FALSE(group[rank].exchanged(ranks, 3)) << rank;
  }
  // Rank 1 gives up round 4 before the others have sent what it waits for.
  for (const std::uint32_t rank : ranks) group[rank].contribute(ranks, 4, "fourth");
  group[1].contribute(ranks, 5, "fifth");
  group.deliver();
  EXPECT_TRUE(group[0].exchanged(ranks, 4));
  group.deliver();
  EXPECT_FALSE(group[1].exchanged(ranks, 4));
  group[0].contribute(ranks, 5, "fifth");
  EXPECT_EQ(group[0].exchanged(ranks, 5), pack({"fifth", "fifth"}));
  group.deliver();
  EXPECT_EQ(group[1].exchanged(ranks, 5), pack({"fifth", "fifth"}));
}

/// A rank tells the next rank and connected ranks that it leaves. One that waits for it asks.
TEST(GroupState, ARankThatWaitsForALeaverAsksIt) {
  SimulatedGroup group(4);
  group.disconnect(0, 2);
  group.disconnect(3, 2);
  group[2].leave(7);
  group.deliver();
  EXPECT_FALSE(group.are_connected(0, 2));
  EXPECT_TRUE(group[1].left().contains(2));
  EXPECT_TRUE(group[3].left().contains(2));
  EXPECT_FALSE(group[0].left().contains(2));
  const std::vector<std::uint32_t> awaited{2};
  group[0].inquire(awaited);
  group.deliver();
  EXPECT_EQ(group[0].left(), (std::map<std::uint32_t, std::uint64_t>{{2, 7}}));
  EXPECT_TRUE(group.alarm(0));
}

TEST(GroupState, InquiringConnectsToAFewRanks) {
  SimulatedGroup group(20);
  std::vector<std::uint32_t> others;
  for (std::uint32_t rank = 0; rank < 20; ++rank) {
    if (rank != 18) others.push_back(rank);
  }
  for (const std::uint32_t rank : others) group.disconnect(18, rank);
  for (int times = 0; times < 2; ++times) group[18].inquire(others);
  group.deliver();
  for (const std::uint32_t rank : others) {
    EXPECT_EQ(group.are_connected(18, rank), rank == 19 || rank < 3) << rank;
  }
}

TEST(GroupState, InquiringConnectsOnce) {
  SimulatedGroup group(2);
  group.disconnect(0, 1);
  const std::vector<std::uint32_t> awaited{1};
  group[0].inquire(awaited);
  group.deliver();
  EXPECT_TRUE(group.are_connected(0, 1));
  EXPECT_FALSE(group[0].verdict());
  group.disconnect(0, 1);
  group[0].inquire(awaited);
  EXPECT_FALSE(group.are_connected(0, 1));
}

/// Rank 0, the proposer, has not heard that rank 3 has left, and cannot connect to it.
TEST(GroupState, ARankThatLeftInOrderIsNotTakenForLost) {
  SimulatedGroup group(5);
  group.disconnect(0, 3);
  group[3].leave(5);
  group.deliver();
  group.stop(3);
  group.lose(0, 3);
  group.stop(2);
  for (const std::uint32_t witness : {0U, 1U}) group.lose(witness, 2);
  group.deliver();
  for (const std::uint32_t rank : {0U, 1U}) {
    ASSERT_TRUE(group[rank].verdict());
    EXPECT_EQ(group[rank].verdict()->verdict.ranks, (std::vector<std::uint32_t>{2}));
  }
}

/// Rank 0, the proposer, has reported a leaver. It reports nothing more when it loses a rank.
TEST(GroupState, ALostRankIsTheVerdictThoughTheOnlyReportIsOfALeaver) {
  SimulatedGroup group(5);
  group.disconnect(0, 3);
  group[3].leave(5);
  group.deliver();
  group.stop(3);
  group.stop(2);
  for (const std::uint32_t rank : {3U, 2U}) group.lose(0, rank);
  group.deliver();
  for (const std::uint32_t rank : {0U, 1U}) {
    ASSERT_TRUE(group[rank].verdict());
    EXPECT_EQ(group[rank].verdict()->verdict.ranks, (std::vector<std::uint32_t>{2}));
  }
}

TEST(GroupState, ALeaverIsTheVerdictIfNothingElseIs) {
  SimulatedGroup group(4);
  group.disconnect(0, 2);
  group[2].leave(5);
  group.deliver();
  group.stop(2);
  group.lose(0, 2);
  group.deliver();
  for (const std::uint32_t rank : {0U, 1U}) {
    ASSERT_TRUE(group[rank].verdict());
    EXPECT_EQ(group[rank].verdict()->verdict.ranks, (std::vector<std::uint32_t>{2}));
    EXPECT_NE(group[rank].verdict()->verdict.words.find("has left the communicator after 5 calls"),
              std::string::npos);
  }
}

/// The proposer has no status of the lost rank, but rank 2 has.
TEST(GroupState, TheVerdictQuotesAStatusThatAnotherRankHasSeen) {
  SimulatedGroup group(4);
  for (const std::uint32_t other : {0U, 1U}) group.disconnect(3, other);
  group[3].compare(0);
  group.deliver();
  group.stop(3);
  for (const std::uint32_t witness : {0U, 1U, 2U}) group.lose(witness, 3);
  group.deliver();
  ASSERT_TRUE(group[0].verdict());
  EXPECT_NE(group[0].verdict()->verdict.words.find("was last seen"), std::string::npos)
      << group[0].verdict()->verdict.words;
}

using RankList = std::vector<std::uint32_t>;

TEST(GroupState, ARunningCallMayWaitForRanksThatAreInItToo) {
  SimulatedGroup group(4);
  for (const std::uint32_t rank : {1U, 2U}) group.participant(rank).last_call = 5;
  group.stop(3);
  group.lose(0, 3);
  group.advance(3s);
  ASSERT_TRUE(group[0].verdict());
  // Rank 0 is in call 5, which ranks 1 and 2 have completed before the verdict.
  EXPECT_FALSE(group[0].prospects(5, RankList{1, 2}).is_hopeless);
  EXPECT_EQ(group[0].prospects(5, RankList{1, 2}).ended, RankList{});
  EXPECT_EQ(group[0].prospects(5, RankList{1, 3}).ended, RankList{3});
  EXPECT_TRUE(group[0].prospects(6, RankList{1}).is_hopeless);
  EXPECT_FALSE(group[0].prospects(6, RankList{}).is_hopeless);
}

TEST(GroupState, ARankThatGivesUpACallSaysSo) {
  SimulatedGroup group(4);
  group.stop(3);
  group.lose(0, 3);
  group.advance(3s);
  ASSERT_TRUE(group[0].verdict());
  EXPECT_FALSE(group[0].prospects(5, RankList{1}).is_hopeless);
  const int wakes = group.participant(0).wakes;
  group[1].stop_after(4);
  group[1].stop_after(5);  // Only the first counts.
  group.deliver();
  EXPECT_TRUE(group[0].prospects(5, RankList{1}).is_hopeless);
  EXPECT_FALSE(group[0].prospects(4, RankList{1}).is_hopeless);
  EXPECT_GT(group.participant(0).wakes, wakes);
}

TEST(GroupState, ARankThatIsAskedSaysThatItHasStopped) {
  SimulatedGroup group(4);
  group.disconnect(0, 1);
  group[1].stop_after(4);
  group.deliver();
  group.stop(3);
  group.lose(0, 3);
  group.advance(3s);
  group.disconnect(0, 1);
  group[0].inquire(RankList{1});
  group.deliver();
  EXPECT_TRUE(group[0].prospects(5, RankList{1}).is_hopeless);
}

TEST(GroupState, ARunningCallEndsIfRanksDisagree) {
  SimulatedGroup group(2);
  group[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = "enough"}, group.now);
  group.advance(1s);
  EXPECT_TRUE(group[0].prospects(1, RankList{}).is_hopeless);
}

TEST(GroupState, OnlyLaterCallsNeedARankThatHasLeft) {
  SimulatedGroup group(3);
  group[2].leave(7);
  group.deliver();
  EXPECT_FALSE(group[0].prospects(7, RankList{2}).leaver);
  EXPECT_EQ(group[0].prospects(8, RankList{1}).leaver, 2);
}

}  // namespace
}  // namespace tutti::test
