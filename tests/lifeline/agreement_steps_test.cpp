#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "lifeline/agreement.hpp"

/// One member of an agreement, driven step by step.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = Agreement::Clock;

/// A member whose events the test makes itself.
class SteppedMember {
 public:
  struct Sent {
    std::uint32_t to;
    ControlMessage::Kind kind;
    std::uint32_t ballot;

    friend bool operator==(const Sent&, const Sent&) = default;
  };

  SteppedMember(std::uint32_t self, std::uint32_t members)
      : agreement(self, members,
                  {.send =
                       [this](std::uint32_t to, ControlMessage::Kind kind, std::uint32_t ballot,
                              const std::string&, Delivery) {
                         sent.push_back({to, kind, ballot});
                       },
                   .decide = [](const Agreement::Evidence& evidence) -> std::optional<std::string> {
                     return "without " + std::to_string(evidence.silent.size());
                   },
                   .describe = [](const std::string&) { return "7"; }},
                  Agreement::Patience{}) {}

  [[nodiscard]] std::size_t count(ControlMessage::Kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [&](const Sent& each) { return each.kind == kind; }));
  }

  std::vector<Sent> sent{};
  Agreement agreement;
};

/// The proposer was stopped for longer than it waits for a reply, which arrived meanwhile.
TEST(AgreementSteps, OwnPauseDoesNotCountAsSilenceOfOthers) {
  SteppedMember proposer(0, 2);
  Clock::time_point now{};
  proposer.agreement.submit("mine", "", now);
  proposer.agreement.tick(now += 20ms);
  proposer.agreement.tick(now += 60s);
  EXPECT_FALSE(proposer.agreement.decision());
  proposer.agreement.receive(1, ControlMessage::Kind::promise, 2, "{}", now);
  EXPECT_EQ(proposer.agreement.decision(), "without 0");
}

TEST(AgreementSteps, ProposerWaitsForAcknowledgements) {
  SteppedMember proposer(0, 3);
  Clock::time_point now{};
  proposer.agreement.submit("mine", "", now);
  proposer.agreement.receive(1, ControlMessage::Kind::promise, 3, "{}", now);
  proposer.agreement.receive(2, ControlMessage::Kind::promise, 3, "{}", now);
  ASSERT_TRUE(proposer.agreement.decision());
  EXPECT_FALSE(proposer.agreement.is_confirmed(now));
  proposer.agreement.receive(2, ControlMessage::Kind::acknowledge, 3, "", now);
  EXPECT_FALSE(proposer.agreement.is_confirmed(now));
  // The wait is bounded, and a lost member is not waited for.
  EXPECT_TRUE(proposer.agreement.is_confirmed(now + 1s));
  proposer.agreement.lose(1, now);
  EXPECT_TRUE(proposer.agreement.is_confirmed(now));
}

TEST(AgreementSteps, DecisionIsAcknowledged) {
  SteppedMember member(1, 3);
  const Clock::time_point now{};
  member.agreement.receive(0, ControlMessage::Kind::decide, 3, "decision", now);
  EXPECT_EQ(member.count(ControlMessage::Kind::acknowledge), 1U);
  EXPECT_TRUE(member.agreement.is_confirmed(now));
}

/// A later ballot, which this member has promised, may decide otherwise without it.
TEST(AgreementSteps, DecisionTravelsWithItsBallot) {
  using Kind = ControlMessage::Kind;
  using Sent = std::vector<SteppedMember::Sent>;
  SteppedMember member(1, 4);
  const Clock::time_point now{};
  member.agreement.receive(0, Kind::decide, 4, "decision", now);
  member.agreement.receive(3, Kind::prepare, 7, "", now);
  member.sent.clear();
  member.agreement.receive(2, Kind::input, 0, "{}", now);
  EXPECT_EQ(std::exchange(member.sent, {}), (Sent{{2, Kind::decide, 4}}));
  member.agreement.receive(2, Kind::prepare, 6, "", now);
  EXPECT_EQ(std::exchange(member.sent, {}), (Sent{{2, Kind::decide, 4}, {2, Kind::alive, 7}}));
  member.agreement.rebroadcast();
  EXPECT_EQ(member.sent, (Sent{{0, Kind::decide, 4}, {2, Kind::decide, 4}, {3, Kind::decide, 4}}));
}

/// The member that knows the decision proposes no more, and the later proposer is gone.
TEST(AgreementSteps, DecisionOfAnEarlierBallotIsProposedAgain) {
  using Kind = ControlMessage::Kind;
  SteppedMember member(2, 4);
  const Clock::time_point now{};
  member.agreement.receive(3, Kind::prepare, 7, "", now);
  member.agreement.lose(3, now);
  member.agreement.receive(0, Kind::decide, 4, "decision", now);
  EXPECT_FALSE(member.agreement.decision());
  EXPECT_EQ(member.count(Kind::prepare), 2U);
  for (const std::uint32_t other : {0U, 1U}) {
    member.agreement.receive(other, Kind::promise, 10, "{}", now);
  }
  EXPECT_EQ(member.agreement.decision(), "decision");
}

/// So that it knows the silent members when it becomes the proposer.
TEST(AgreementSteps, ProbedMemberProbesAllOthersAtOnce) {
  SteppedMember member(1, 6);
  member.agreement.receive(3, ControlMessage::Kind::input, 0, "{}", Clock::time_point{});
  EXPECT_EQ(member.count(ControlMessage::Kind::input), 5U);
  EXPECT_EQ(member.count(ControlMessage::Kind::alive), 1U);
}

/// While the proposer replies, no other member is probed.
TEST(AgreementSteps, ProbesOthersOnlyIfTheProposerDoesNotReply) {
  SteppedMember member(4, 6);
  Clock::time_point now{};
  member.agreement.submit("mine", "", now);
  member.agreement.receive(0, ControlMessage::Kind::alive, 0, "", now);
  for (int i = 0; i < 20; ++i) member.agreement.tick(now += 20ms);
  EXPECT_EQ(member.count(ControlMessage::Kind::input), 1U);
  for (int i = 0; i < 20; ++i) member.agreement.tick(now += 20ms);
  EXPECT_EQ(member.count(ControlMessage::Kind::input), 6U);
}

}  // namespace
}  // namespace tutti::test
