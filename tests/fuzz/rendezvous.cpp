#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "fuzz/finding.hpp"
#include "fuzz/line.hpp"
#include "fuzz/tape.hpp"
#include "fuzz/target.hpp"
#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Who keeps silent is waited for so long.
constexpr auto patience = 10ms;
constexpr std::uint32_t ranks = 2;
const Secret secret{"secret"};

Group group(std::uint32_t rank) {
  return {.rank = Rank{rank}, .size = ranks, .job = "job", .secret = secret};
}

/// A name within this host that nobody had before.
Endpoint new_place() {
  static std::atomic<std::uint64_t> count = 0;
  return Endpoint::within_host("tutti-fuzz-" + std::to_string(getpid()) + "-" +
                               std::to_string(count++));
}

void wait_to_read(const Socket& socket) {
  pollfd watched{.fd = socket.fd(), .events = POLLIN, .revents = 0};
  (void)poll(&watched, 1, 1);
}

/// Reads until the other end has closed its side, or it takes too long.
void hear_out(const Socket& socket) {
  std::array<char, 4096> bytes{};
  const Clock::time_point late = Clock::now() + 2 * patience;
  while (Clock::now() < late) {
    const ssize_t got = recv(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0) return;
    if (got < 0) wait_to_read(socket);
  }
}

/// Somebody who knows the secret, if he likes, and then says whatever he likes.
struct Stranger {
  bool knows_secret = true;
  std::string greeting{};
  std::string words{};

  void talk(const Socket& socket, Handshake::Side side) const {
    if (knows_secret && !shake_hands(socket, side)) return;
    (void)put(socket, words);
    hear_out(socket);
  }

 private:
  [[nodiscard]] bool shake_hands(const Socket& socket, Handshake::Side side) const {
    Handshake handshake(side, secret, greeting);
    Channel channel(Socket(dup(socket.fd())));
    const Clock::time_point late = Clock::now() + 2 * patience;
    while (Clock::now() < late) {
      const Handshake::State state = handshake.advance(channel);
      if (state == Handshake::State::done) return true;
      if (state == Handshake::State::refused) return false;
      wait_to_read(socket);
    }
    return false;
  }
};

Stranger stranger_from(Tape& tape, std::uint32_t rank) {
  Stranger stranger{.greeting = greeting(group(rank))};
  const std::uint32_t what = tape.byte();
  stranger.knows_secret = what % 8 != 0;
  if (what % 8 == 1) stranger.greeting = tape.take(tape.byte() % Handshake::most_greeting);
  constexpr std::size_t most_words = 60000;  // Less than a socket takes at once.
  stranger.words = tape.take(most_words);
  return stranger;
}

void require_contributions(const std::optional<std::vector<std::string>>& contributions,
                           std::uint32_t own) {
  if (!contributions) return;
  require(contributions->size() == ranks, "there are not as many contributions as ranks");
  // A root may hand out what it likes; rank 0 knows its own contribution.
  require(own > 0 || contributions->front() == "mine", "the own contribution is another");
}

void be_root(Tape& tape) {
  const Stranger stranger = stranger_from(tape, 1);
  TcpRoot root(group(0), listen_on(new_place(), {}), Clock::now() + patience);
  std::thread other([&stranger, at = root.endpoint()] {
    const Socket socket = begin_connect(at);
    if (socket) stranger.talk(socket, Handshake::Side::dials);
  });
  std::optional<std::vector<std::string>> contributions;
  try {
    contributions = attempt([&] { return root.all_gather("mine"); },
                            {ErrorCode::timed_out, ErrorCode::peer_lost, ErrorCode::internal});
  } catch (...) {
    other.join();
    throw;
  }
  other.join();
  require_contributions(contributions, 0);
}

void be_member(Tape& tape) {
  const Stranger stranger = stranger_from(tape, 0);
  const Socket listener = listen_on(new_place(), {});
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) {
      if (const Socket socket = accept_from(listener)) {
        stranger.talk(socket, Handshake::Side::accepts);
      } else {
        wait_to_read(listener);
      }
    }
  });
  std::optional<std::vector<std::string>> contributions;
  try {
    // What rank 0 says has gone wrong may be anything.
    contributions = attempt(
        [&] {
          TcpMember member(
              group(1), [&] { return std::vector{bound_to(listener)}; }, Clock::now() + patience);
          return member.all_gather("mine");
        },
        {ErrorCode::invalid_argument, ErrorCode::unsupported, ErrorCode::mismatch,
         ErrorCode::timed_out, ErrorCode::peer_lost, ErrorCode::aborted, ErrorCode::internal});
  } catch (...) {
    over = true;
    other.join();
    throw;
  }
  over = true;
  other.join();
  require_contributions(contributions, 1);
}

}  // namespace

void try_rendezvous(std::string_view input) {
  Tape tape(input);
  if (tape.byte() % 2 == 0) {
    be_root(tape);
  } else {
    be_member(tape);
  }
}

}  // namespace tutti::test
