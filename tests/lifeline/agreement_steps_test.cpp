#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "lifeline/agreement.hpp"

/// One member of an agreement, step by step.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = Agreement::Clock;

/// A member that is told by hand what happens.
class ByHand {
 public:
  struct Sent {
    std::uint32_t to;
    ControlMessage::Kind kind;
  };

  explicit ByHand(std::uint32_t self, std::uint32_t members)
      : agreement(self, members,
                  {.send =
                       [this](std::uint32_t to, ControlMessage::Kind kind, std::uint32_t,
                              const std::string&) {
                         sent.push_back({to, kind});
                       },
                   .judge = [](const Agreement::Hearing& hearing) -> std::optional<std::string> {
                     return "without " + std::to_string(hearing.silent.size());
                   },
                   .stand = [](const std::string&) { return "7"; }},
                  Agreement::Patience{}) {}

  [[nodiscard]] std::size_t count(ControlMessage::Kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [&](const Sent& each) { return each.kind == kind; }));
  }

  std::vector<Sent> sent{};
  Agreement agreement;
};

/// It was stopped for longer than it would wait for an answer, which had come meanwhile.
TEST(AgreementSteps, OwnPauseDoesNotCountAsSilenceOfOthers) {
  ByHand chair(0, 2);
  Clock::time_point now{};
  chair.agreement.put("mine", "", now);
  chair.agreement.tick(now += 20ms);
  chair.agreement.tick(now += 60s);
  EXPECT_FALSE(chair.agreement.decision());
  chair.agreement.hear(1, ControlMessage::Kind::promise, 2, "{}", now);
  EXPECT_EQ(chair.agreement.decision(), "without 0");
}

TEST(AgreementSteps, ChairWaitsForConfirmations) {
  ByHand chair(0, 3);
  Clock::time_point now{};
  chair.agreement.put("mine", "", now);
  chair.agreement.hear(1, ControlMessage::Kind::promise, 3, "{}", now);
  chair.agreement.hear(2, ControlMessage::Kind::promise, 3, "{}", now);
  ASSERT_TRUE(chair.agreement.decision());
  EXPECT_FALSE(chair.agreement.is_confirmed(now));
  chair.agreement.hear(2, ControlMessage::Kind::acknowledge, 3, "", now);
  EXPECT_FALSE(chair.agreement.is_confirmed(now));
  // The wait is bounded, and a lost member is not waited for.
  EXPECT_TRUE(chair.agreement.is_confirmed(now + 1s));
  chair.agreement.lose(1, now);
  EXPECT_TRUE(chair.agreement.is_confirmed(now));
}

TEST(AgreementSteps, DecisionIsConfirmed) {
  ByHand member(1, 3);
  const Clock::time_point now{};
  member.agreement.hear(0, ControlMessage::Kind::decide, 3, "so be it", now);
  EXPECT_EQ(member.count(ControlMessage::Kind::acknowledge), 1U);
  EXPECT_TRUE(member.agreement.is_confirmed(now));
}

/// So that it knows the silent members when it has to preside.
TEST(AgreementSteps, MemberThatIsAskedAsksAllOthersAtOnce) {
  ByHand member(1, 6);
  member.agreement.hear(3, ControlMessage::Kind::input, 0, "{}", Clock::time_point{});
  EXPECT_EQ(member.count(ControlMessage::Kind::input), 5U);
  EXPECT_EQ(member.count(ControlMessage::Kind::alive), 1U);
}

/// As long as the chair replies, no other member is asked.
TEST(AgreementSteps, AsksAroundOnlyIfTheChairDoesNotReply) {
  ByHand member(4, 6);
  Clock::time_point now{};
  member.agreement.put("mine", "", now);
  member.agreement.hear(0, ControlMessage::Kind::alive, 0, "", now);
  for (int i = 0; i < 20; ++i) member.agreement.tick(now += 20ms);
  EXPECT_EQ(member.count(ControlMessage::Kind::input), 1U);
  for (int i = 0; i < 20; ++i) member.agreement.tick(now += 20ms);
  EXPECT_EQ(member.count(ControlMessage::Kind::input), 6U);
}

}  // namespace
}  // namespace tutti::test
