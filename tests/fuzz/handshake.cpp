#include "net/handshake.hpp"

#include <sys/socket.h>

#include <array>
#include <string>

#include "fuzz/finding.hpp"
#include "fuzz/line.hpp"
#include "fuzz/tape.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

using Side = Handshake::Side;
using State = Handshake::State;

constexpr std::size_t hello_bytes = 256;

/// One direction of a connection, through an attacker who forwards it in pieces.
class Wiretap {
 public:
  Wiretap(const Socket& from, const Socket& to) : from_(from), to_(to) {}

  /// Forwards up to `most` bytes and flips these bits of the first one.
  void pass(std::size_t most, std::uint32_t flipped) {
    std::array<char, 512> bytes{};
    const ssize_t got = recv(from_.fd(), bytes.data(), std::min(most, bytes.size()), MSG_DONTWAIT);
    if (got <= 0) return;
    if (flipped != 0) {
      bytes[0] = static_cast<char>(bytes[0] ^ static_cast<char>(flipped));
      first_changed_ = std::min(first_changed_, passed_);
    }
    passed_ += put(to_, {bytes.data(), static_cast<std::size_t>(got)});
  }

  [[nodiscard]] bool has_changed(std::size_t before) const { return first_changed_ < before; }

 private:
  static constexpr std::size_t never = ~std::size_t{0};
  const Socket& from_;
  const Socket& to_;
  std::size_t passed_ = 0;
  std::size_t first_changed_ = never;
};

std::string greeting_from(Tape& tape) {
  return std::string(tape.take(tape.byte() % (Handshake::most_greeting + 1)));
}

/// Two ends with an attacker between them who delays, splits and changes the data.
void test_attacker_between(Tape& tape) {
  const bool same_secret = tape.byte() % 4 != 0;
  const std::string one = greeting_from(tape);
  const std::string two = greeting_from(tape);
  Handshake dials(Side::dials, {"secret"}, one);
  Handshake accepts(Side::accepts, {same_secret ? "secret" : "another"}, two);
  Line left;
  Line right;
  Channel dialling(std::move(left.near));
  Channel accepting(std::move(right.near));
  Wiretap there(left.far, right.far);
  Wiretap back(right.far, left.far);
  while (!tape.at_end()) {
    const std::uint32_t what = tape.byte();
    const std::size_t most = 1 + tape.byte();
    const std::uint32_t flipped = what % 64 == 63 ? tape.byte() : 0;
    (void)dials.advance(dialling);
    (void)accepts.advance(accepting);
    (what & 1 ? there : back).pass(most, flipped);
  }
  State dialled = State::reading;
  State accepted = State::reading;
  for (int turn = 0; turn < 12; ++turn) {
    dialled = dials.advance(dialling);
    there.pass(hello_bytes, 0);
    accepted = accepts.advance(accepting);
    back.pass(hello_bytes, 0);
  }
  const bool all_true = same_secret && !there.has_changed(~std::size_t{0});
  require((accepted == State::done) == (all_true && !back.has_changed(hello_bytes)),
          "the accepting side accepts a changed handshake or rejects a valid one: " +
              accepts.refusal());
  require(
      (dialled == State::done) == (all_true && !back.has_changed(~std::size_t{0})),
      "the dialling side accepts a changed handshake or rejects a valid one: " + dials.refusal());
  if (accepted == State::done) {
    require(accepts.peer_greeting() == one, "the accepting side receives another greeting");
  }
  if (dialled == State::done) {
    require(dials.peer_greeting() == two, "the dialling side receives another greeting");
  }
}

/// A peer that does not know the secret.
void test_unauthenticated_peer(Tape& tape) {
  const Side side = tape.byte() % 2 == 0 ? Side::dials : Side::accepts;
  Handshake handshake(side, {"secret"}, "rank 1");
  Line line;
  Channel near(std::move(line.near));
  State state = State::reading;
  for (int closed_for = 0; closed_for < 100 && state != State::refused;) {
    const std::string_view sent = tape.take(1 + tape.byte());
    if (!sent.empty()) (void)put(line.far, sent);
    if (tape.at_end()) {
      line.far = Socket();
      ++closed_for;
    }
    state = handshake.advance(near);
    require(state != State::done, "an unauthenticated peer is accepted");
  }
  require(state == State::refused, "a closed connection is not rejected");
  require(!handshake.refusal().empty(), "a peer is rejected without a reason");
}

}  // namespace

void try_handshake(std::string_view input) {
  Tape tape(input);
  if (tape.byte() % 4 == 0) {
    test_unauthenticated_peer(tape);
  } else {
    test_attacker_between(tape);
  }
}

}  // namespace tutti::test
