#include "lifeline/lifeline.hpp"

#include <gtest/gtest.h>

#include "lifeline/fake_participant.hpp"
#include "support/errors.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Keeps what is sent.
class RecordingTransport final : public ControlTransport {
 public:
  explicit RecordingTransport(std::vector<ControlMessage>& sent) : sent_(sent) {}

  void send(std::uint32_t /*to*/, std::string message, Delivery /*delivery*/) override {
    sent_.push_back(decode_control_message(message).value());
  }
  void request_ticks() override {}

 private:
  std::vector<ControlMessage>& sent_;
};

/// The lifeline of member 0 of two.
class LifelineTest : public testing::Test {
 protected:
  LifelineTest() { lifeline_.attach(std::make_unique<RecordingTransport>(sent_)); }

  void open(std::uint64_t communicator) {
    lifeline_.open({.communicator = communicator, .self = 0, .members = {0, 1}, .patience = 1s},
                   alarm_, participant_);
  }

  std::vector<ControlMessage> sent_{};
  std::atomic<bool> alarm_{false};
  FakeParticipant participant_{};
  Lifeline lifeline_{0, {"here", "there"}};
};

TEST_F(LifelineTest, DeliversMessagesThatArrivedBeforeTheCommunicator) {
  const auto leave = [&](std::uint64_t communicator, const std::string& calls) {
    lifeline_.receive(
        1,
        encode({.kind = ControlMessage::Kind::leave, .communicator = communicator, .body = calls}));
  };
  leave(7, "3");
  leave(8, "4");
  open(7);
  EXPECT_EQ(lifeline_.lock(7)->left(), (std::map<std::uint32_t, std::uint64_t>{{1, 3}}));
  EXPECT_TRUE(alarm_);
  open(8);
  EXPECT_EQ(lifeline_.lock(8)->left(), (std::map<std::uint32_t, std::uint64_t>{{1, 4}}));
}

TEST_F(LifelineTest, RepliesForAClosedCommunicator) {
  open(7);
  lifeline_.lock(7)->leave(12);
  lifeline_.close(7);
  lifeline_.decline(8, std::vector<std::uint32_t>{0, 1});
  for (const std::uint64_t communicator : {7U, 8U}) {
    sent_.clear();
    lifeline_.receive(1,
                      encode({.kind = ControlMessage::Kind::status, .communicator = communicator}));
    ASSERT_EQ(sent_.size(), 1) << communicator;
    EXPECT_EQ(sent_[0].kind, ControlMessage::Kind::leave);
    EXPECT_EQ(sent_[0].communicator, communicator);
    EXPECT_EQ(read_leave(sent_[0].body).calls, communicator == 7 ? 12U : 0U);
  }
  sent_.clear();
  lifeline_.receive(1, encode({.kind = ControlMessage::Kind::leave, .communicator = 7}));
  EXPECT_TRUE(sent_.empty());
}

TEST_F(LifelineTest, ExpectsMembersOfItsCommunicators) {
  EXPECT_FALSE(lifeline_.expects(1));
  open(7);
  EXPECT_TRUE(lifeline_.expects(1));
  EXPECT_FALSE(lifeline_.expects(2));
  lifeline_.receive(1, encode({.kind = ControlMessage::Kind::leave, .communicator = 7}));
  EXPECT_FALSE(lifeline_.expects(1));
}

TEST_F(LifelineTest, TellsANewCommunicatorOfLostMembers) {
  lifeline_.lose(1, "its process has ended");
  EXPECT_TRUE(lifeline_.is_lost(1));
  EXPECT_FALSE(lifeline_.is_lost(0));
  open(7);
  EXPECT_TRUE(lifeline_.lock(7)->is_gone(1));
  ASSERT_TRUE(lifeline_.lock(7)->verdict());
  EXPECT_EQ(lifeline_.lock(7)->verdict()->verdict.code, ErrorCode::peer_lost);
}

TEST_F(LifelineTest, ARankThatLeftBeforeTheCommunicatorWasMadeHereIsNotLost) {
  lifeline_.receive(1,
                    encode({.kind = ControlMessage::Kind::leave, .communicator = 7, .body = "3"}));
  lifeline_.lose(1, "it closed the connection");
  open(7);
  EXPECT_EQ(lifeline_.lock(7)->left(), (std::map<std::uint32_t, std::uint64_t>{{1, 3}}));
  EXPECT_FALSE(lifeline_.lock(7)->verdict());
}

TEST_F(LifelineTest, SaysOnceThatARankHasLeft) {
  open(7);
  lifeline_.lock(7)->leave(3);
  lifeline_.close(7);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].kind, ControlMessage::Kind::leave);
  EXPECT_EQ(sent_[0].communicator, 7U);
  EXPECT_EQ(read_leave(sent_[0].body).calls, 3U);
  open(8);
  lifeline_.close(8);
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(read_leave(sent_[1].body).calls, 0U);
}

TEST_F(LifelineTest, RejectsASecondCommunicatorOfTheSameNumber) {
  open(7);
  expect_error([&] { open(7); }, ErrorCode::internal, "number 7");
}

}  // namespace
}  // namespace tutti::test
