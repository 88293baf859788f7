#include "net/handshake.hpp"

#include <sys/socket.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "net/socket.hpp"
#include "support/errors.hpp"
#include "support/line.hpp"

namespace tutti {
namespace {

using test::give;
using test::Line;
using test::take;
using Side = Handshake::Side;
using State = Handshake::State;

/// Lets both go on in turn as long as either wants to.
void meet(Handshake& one, Channel& one_end, Handshake& other, Channel& other_end) {
  for (int turns = 0; turns < 8; ++turns) {
    (void)one.advance(one_end);
    (void)other.advance(other_end);
  }
}

TEST(Secret, IsAnotherEachTime) {
  const Secret secret = Secret::random();
  EXPECT_EQ(secret.bytes.size(), 64U);
  EXPECT_EQ(secret.bytes.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(secret.bytes, Secret::random().bytes);
}

class RightSecret : public testing::TestWithParam<std::string> {};

TEST_P(RightSecret, LetsBothKnowEachOther) {
  Line line;
  const Secret secret{GetParam()};
  const std::string longest(Handshake::most_greeting, 'g');
  Handshake dials(Side::dials, secret, "rank 3");
  Handshake accepts(Side::accepts, secret, longest);
  meet(dials, line.a, accepts, line.b);
  EXPECT_EQ(dials.advance(line.a), State::done) << dials.refusal();
  EXPECT_EQ(accepts.advance(line.b), State::done) << accepts.refusal();
  EXPECT_EQ(dials.peer_greeting(), longest);
  EXPECT_EQ(accepts.peer_greeting(), "rank 3");
}

TEST_P(RightSecret, LetsBothKnowEachOtherInPrivate) {
  if (GetParam().empty()) GTEST_SKIP() << "nothing to encrypt with";
  Line line;
  const Secret secret = Secret{.bytes = GetParam()}.encrypting();
  Handshake dials(Side::dials, secret, "rank 3");
  Handshake accepts(Side::accepts, secret, "root");
  meet(dials, line.a, accepts, line.b);
  EXPECT_EQ(dials.advance(line.a), State::done) << dials.refusal();
  EXPECT_EQ(accepts.advance(line.b), State::done) << accepts.refusal();
  EXPECT_EQ(dials.peer_greeting(), "root");
  EXPECT_EQ(accepts.peer_greeting(), "rank 3");
}

INSTANTIATE_TEST_SUITE_P(Secrets, RightSecret, testing::Values("", "s", std::string(1000, 'x')),
                         [](const auto& each) { return "Of" + std::to_string(each.param.size()); });

TEST(Handshake, ReadsNothingThatFollowsIt) {
  Line line;
  Handshake dials(Side::dials, {"s"}, "a");
  Handshake accepts(Side::accepts, {"s"}, "b");
  (void)dials.advance(line.a);
  (void)accepts.advance(line.b);
  (void)dials.advance(line.a);
  give(line.a, "what follows");
  EXPECT_EQ(accepts.advance(line.b), State::done);
  EXPECT_EQ(take(line.b), "what follows");
  EXPECT_EQ(dials.advance(line.a), State::done);
}

TEST(Handshake, RefusesAnotherSecret) {
  Line line;
  Handshake dials(Side::dials, {"right"}, "a");
  Handshake accepts(Side::accepts, {"wrong"}, "b");
  meet(dials, line.a, accepts, line.b);
  EXPECT_EQ(accepts.advance(line.b), State::refused);
  EXPECT_EQ(dials.advance(line.a), State::refused);
  for (const Handshake* each : {&dials, &accepts}) {
    EXPECT_TRUE(each->is_final());
    EXPECT_NE(each->refusal().find("TUTTI_SECRET"), std::string::npos);
  }
}

TEST(Handshake, TellsAStrangerNothingThatDependsOnTheSecret) {
  Line line;
  Line other;
  Handshake dials(Side::dials, {"guess"}, "a");
  (void)dials.advance(other.a);
  Handshake accepts(Side::accepts, {"right"}, "b");
  give(line.a, take(other.b) + std::string(32, '?'));
  EXPECT_EQ(accepts.advance(line.b), State::refused);
  EXPECT_EQ(take(line.a).substr(256), std::string(32, '\0'));
}

TEST(Handshake, GuessesWhyItWasClosedInTheEnd) {
  Line line;
  Handshake dials(Side::dials, {"s"}, "a");
  Handshake accepts(Side::accepts, {"s"}, "b");
  (void)dials.advance(line.a);
  (void)accepts.advance(line.b);
  (void)dials.advance(line.a);
  line.b = Channel();
  EXPECT_EQ(dials.advance(line.a), State::refused);
  EXPECT_NE(dials.refusal().find("TUTTI_SECRET"), std::string::npos);
  EXPECT_FALSE(dials.is_final());
  EXPECT_EQ(dials.advance(line.a), State::refused);
}

TEST(Handshake, RefusesAnEmptySecretWhereThereIsOne) {
  Line line;
  Handshake dials(Side::dials, {}, "a");
  Handshake accepts(Side::accepts, {"s"}, "b");
  meet(dials, line.a, accepts, line.b);
  EXPECT_EQ(accepts.advance(line.b), State::refused);
}

TEST(Handshake, RefusesAChangedGreeting) {
  Line dialer;
  Line acceptor;
  Handshake dials(Side::dials, {"s"}, "rank 1");
  Handshake accepts(Side::accepts, {"s"}, "root");
  (void)dials.advance(dialer.a);
  (void)accepts.advance(acceptor.a);
  std::string hello = take(dialer.b);
  hello[hello.find("rank 1") + 5] = '2';
  give(acceptor.b, hello);
  give(dialer.b, take(acceptor.b));
  (void)dials.advance(dialer.a);
  give(acceptor.b, take(dialer.b));
  EXPECT_EQ(accepts.advance(acceptor.a), State::refused);
}

TEST(Handshake, RefusesGarbageAtOnce) {
  for (const std::string garbage :
       {"G", "GET / HTTP/1.1\r\n\r\n", "tuttI", "\x16\x03\x01", "tutti\r\n\x02"}) {
    Line line;
    Handshake accepts(Side::accepts, {"s"}, "b");
    give(line.a, garbage);
    EXPECT_EQ(accepts.advance(line.b), State::refused) << garbage;
    EXPECT_FALSE(accepts.has_left());
    EXPECT_EQ(accepts.refusal().find(garbage), std::string::npos);
  }
}

TEST(Handshake, RefusesAGreetingLongerThanItsPlace) {
  Line line;
  Line other;
  Handshake dials(Side::dials, {"s"}, "a");
  (void)dials.advance(other.a);
  std::string hello = take(other.b);
  hello[41] = '\1';
  Handshake accepts(Side::accepts, {"s"}, "b");
  give(line.a, hello);
  EXPECT_EQ(accepts.advance(line.b), State::refused);
  EXPECT_EQ(accepts.refusal(), "its greeting is too long");
}

TEST(Handshake, RefusesWhoGoesAwayEarly) {
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{5}, std::size_t{128}, std::size_t{256}}) {
    Line line;
    Line other;
    Handshake dials(Side::dials, {"s"}, "a");
    (void)dials.advance(other.a);
    give(line.a, take(other.b, length));
    Handshake accepts(Side::accepts, {"s"}, "b");
    EXPECT_EQ(accepts.advance(line.b), State::reading);
    line.a = Channel();
    EXPECT_EQ(accepts.advance(line.b), State::refused);
    EXPECT_FALSE(accepts.refusal().empty());
    EXPECT_TRUE(accepts.has_left());
  }
}

TEST(Handshake, RefusesItsOwnMessages) {
  for (const Side side : {Side::dials, Side::accepts}) {
    Line line;
    Handshake one(side, {"s"}, "a");
    State state = one.advance(line.a);
    for (int turns = 0; turns < 8 && state != State::refused; ++turns) {
      const std::string bytes = take(line.b);
      if (!bytes.empty()) give(line.b, bytes);
      state = one.advance(line.a);
    }
    EXPECT_EQ(state, State::refused);
  }
}

TEST(Handshake, RefusesAProofOfTheSameSide) {
  // A stranger between two ranks that both dial plays each one's answers to the other.
  Line one_line;
  Line other_line;
  Handshake one(Side::dials, {"s"}, "a");
  Handshake other(Side::dials, {"s"}, "b");
  State one_state = State::reading;
  State other_state = State::reading;
  for (int turns = 0; turns < 8; ++turns) {
    one_state = one.advance(one_line.a);
    other_state = other.advance(other_line.a);
    const std::string from_one = take(one_line.b);
    const std::string from_other = take(other_line.b);
    if (!from_one.empty()) give(other_line.b, from_one);
    if (!from_other.empty()) give(one_line.b, from_other);
  }
  EXPECT_EQ(one_state, State::refused);
  EXPECT_EQ(other_state, State::refused);
}

TEST(Handshake, RefusesItsOwnProof) {
  // A stranger with a hello of its own, to whom a rank has proved itself, proves the same to it.
  Line line;
  Line other;
  Handshake stranger(Side::accepts, {"?"}, "b");
  (void)stranger.advance(other.a);
  Handshake dials(Side::dials, {"s"}, "a");
  give(line.b, take(other.b));
  (void)dials.advance(line.a);
  const std::string said = take(line.b);
  ASSERT_EQ(said.size(), 288U);
  give(line.b, said.substr(256));
  EXPECT_EQ(dials.advance(line.a), State::refused);
}

TEST(Handshake, RefusesAnEarlierConversationPlayedBack) {
  std::string recorded;
  {
    Line dialer;
    Line acceptor;
    Handshake dials(Side::dials, {"s"}, "a");
    Handshake accepts(Side::accepts, {"s"}, "b");
    for (int turns = 0; turns < 4; ++turns) {
      (void)dials.advance(dialer.a);
      (void)accepts.advance(acceptor.a);
      const std::string said = take(dialer.b);
      recorded += said;
      if (!said.empty()) give(acceptor.b, said);
      const std::string answer = take(acceptor.b);
      if (!answer.empty()) give(dialer.b, answer);
    }
    ASSERT_EQ(accepts.advance(acceptor.a), State::done);
    ASSERT_EQ(recorded.size(), 288U);
  }
  Line line;
  Handshake accepts(Side::accepts, {"s"}, "b");
  give(line.a, recorded);
  EXPECT_EQ(accepts.advance(line.b), State::refused);
}

TEST(Handshake, TakesOneByteAtATime) {
  Line dialer;
  Line acceptor;
  Handshake dials(Side::dials, {"s"}, "a");
  Handshake accepts(Side::accepts, {"s"}, "b");
  State dials_state = State::reading;
  State accepts_state = State::reading;
  for (int turns = 0; turns < 2000; ++turns) {
    dials_state = dials.advance(dialer.a);
    accepts_state = accepts.advance(acceptor.a);
    const std::string there = take(dialer.b, 1);
    const std::string back = take(acceptor.b, 1);
    if (!there.empty()) give(acceptor.b, there);
    if (!back.empty()) give(dialer.b, back);
  }
  EXPECT_EQ(dials_state, State::done) << dials.refusal();
  EXPECT_EQ(accepts_state, State::done) << accepts.refusal();
  EXPECT_EQ(accepts.peer_greeting(), "a");
}

TEST(Handshake, WaitsForRoomToWrite) {
  Line line;
  // Fill the way out.
  const std::string block(4096, 'x');
  std::size_t filled = 0;
  for (int blocks = 0; blocks < 10000; ++blocks) {
    const ssize_t sent = send(line.a.fd(), block.data(), block.size(), MSG_NOSIGNAL);
    if (sent < 0) break;
    filled += static_cast<std::size_t>(sent);
  }
  Handshake dials(Side::dials, {"s"}, "a");
  EXPECT_EQ(dials.advance(line.a), State::writing);
  while (filled > 0) filled -= take(line.b, filled).size();
  Handshake accepts(Side::accepts, {"s"}, "b");
  meet(dials, line.a, accepts, line.b);
  EXPECT_EQ(dials.advance(line.a), State::done);
}

TEST(Handshake, SaysWhyNobodyAnswered) {
  Endpoint at;
  {
    const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
    at = bound_to(listener);
  }
  Channel channel(begin_connect(at));
  if (!channel) GTEST_SKIP() << "this system refuses at once";
  Handshake dials(Side::dials, {"s"}, "a");
  State state = dials.advance(channel);
  for (int turns = 0; turns < 1000 && state != State::refused; ++turns) {
    state = dials.advance(channel);
  }
  EXPECT_EQ(state, State::refused);
  EXPECT_EQ(dials.refusal(), "Connection refused");
}

TEST(Handshake, NeedsAGreetingThatFits) {
  test::expect_error(
      [] {
        const Handshake handshake(Side::dials, {}, std::string(Handshake::most_greeting + 1, 'g'));
      },
      ErrorCode::internal, "too long");
}

}  // namespace
}  // namespace tutti
