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

/// Advances both ends in turn, often enough for a whole handshake.
void meet(Handshake& one, Channel& one_end, Handshake& other, Channel& other_end) {
  for (int turns = 0; turns < 8; ++turns) {
    (void)one.advance(one_end);
    (void)other.advance(other_end);
  }
}

TEST(Secret, RandomSecretsDiffer) {
  const Secret secret = Secret::random();
  EXPECT_EQ(secret.bytes.size(), 64U);
  EXPECT_EQ(secret.bytes.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(secret.bytes, Secret::random().bytes);
}

class RightSecret : public testing::TestWithParam<std::string> {};

TEST_P(RightSecret, AuthenticatesBothEnds) {
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

TEST_P(RightSecret, AuthenticatesBothEndsOverTls) {
  if (GetParam().empty()) GTEST_SKIP() << "TLS needs a secret";
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

TEST(Handshake, DoesNotReadPastItsOwnMessages) {
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

TEST(Handshake, RefusesDifferentSecret) {
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

TEST(Handshake, SendsUnauthenticatedPeerNoProof) {
  Line line;
  Line other;
  Handshake dials(Side::dials, {"guess"}, "a");
  (void)dials.advance(other.a);
  Handshake accepts(Side::accepts, {"right"}, "b");
  give(line.a, take(other.b) + std::string(32, '?'));
  EXPECT_EQ(accepts.advance(line.b), State::refused);
  EXPECT_EQ(take(line.a).substr(256), std::string(32, '\0'));
}

TEST(Handshake, SuggestsSecretWhenClosedAfterProof) {
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

TEST(Handshake, RefusesEmptySecretWhereOneIsSet) {
  Line line;
  Handshake dials(Side::dials, {}, "a");
  Handshake accepts(Side::accepts, {"s"}, "b");
  meet(dials, line.a, accepts, line.b);
  EXPECT_EQ(accepts.advance(line.b), State::refused);
}

TEST(Handshake, RefusesModifiedGreeting) {
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

TEST(Handshake, RefusesGarbageImmediately) {
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

TEST(Handshake, RefusesGreetingLongerThanItsField) {
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

TEST(Handshake, RefusesPeerThatClosesEarly) {
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

TEST(Handshake, RefusesEchoOfItsOwnMessages) {
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

TEST(Handshake, RefusesProofOfTheSameSide) {
  // A man in the middle relays the messages of two ranks that both dial.
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

TEST(Handshake, RefusesEchoOfItsOwnProof) {
  // An attacker sends a hello of its own, and then reflects the proof that the rank sent to it.
  Line line;
  Line other;
  Handshake attacker(Side::accepts, {"?"}, "b");
  (void)attacker.advance(other.a);
  Handshake dials(Side::dials, {"s"}, "a");
  give(line.b, take(other.b));
  (void)dials.advance(line.a);
  const std::string sent = take(line.b);
  ASSERT_EQ(sent.size(), 288U);
  give(line.b, sent.substr(256));
  EXPECT_EQ(dials.advance(line.a), State::refused);
}

TEST(Handshake, RefusesReplayedHandshake) {
  std::string recorded;
  {
    Line dialer;
    Line acceptor;
    Handshake dials(Side::dials, {"s"}, "a");
    Handshake accepts(Side::accepts, {"s"}, "b");
    for (int turns = 0; turns < 4; ++turns) {
      (void)dials.advance(dialer.a);
      (void)accepts.advance(acceptor.a);
      const std::string sent = take(dialer.b);
      recorded += sent;
      if (!sent.empty()) give(acceptor.b, sent);
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

TEST(Handshake, AcceptsOneByteAtATime) {
  Line dialer;
  Line acceptor;
  Handshake dials(Side::dials, {"s"}, "a");
  Handshake accepts(Side::accepts, {"s"}, "b");
  State dials_state = State::reading;
  State accepts_state = State::reading;
  for (int turns = 0; turns < 2000; ++turns) {
    dials_state = dials.advance(dialer.a);
    accepts_state = accepts.advance(acceptor.a);
    const std::string from_dialer = take(dialer.b, 1);
    const std::string from_acceptor = take(acceptor.b, 1);
    if (!from_dialer.empty()) give(acceptor.b, from_dialer);
    if (!from_acceptor.empty()) give(dialer.b, from_acceptor);
  }
  EXPECT_EQ(dials_state, State::done) << dials.refusal();
  EXPECT_EQ(accepts_state, State::done) << accepts.refusal();
  EXPECT_EQ(accepts.peer_greeting(), "a");
}

TEST(Handshake, WaitsUntilSocketIsWritable) {
  Line line;
  // Fill the send buffer.
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

TEST(Handshake, ReportsConnectionRefused) {
  Endpoint at;
  {
    const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
    at = bound_to(listener);
  }
  Channel channel(begin_connect(at));
  if (!channel) GTEST_SKIP() << "this system refuses within connect()";
  Handshake dials(Side::dials, {"s"}, "a");
  State state = dials.advance(channel);
  for (int turns = 0; turns < 1000 && state != State::refused; ++turns) {
    state = dials.advance(channel);
  }
  EXPECT_EQ(state, State::refused);
  EXPECT_EQ(dials.refusal(), "Connection refused");
}

TEST(Handshake, ThrowsIfGreetingIsTooLong) {
  test::expect_error(
      [] {
        const Handshake handshake(Side::dials, {}, std::string(Handshake::most_greeting + 1, 'g'));
      },
      ErrorCode::internal, "too long");
}

}  // namespace
}  // namespace tutti
