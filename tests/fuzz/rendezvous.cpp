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

/// The time after which a silent peer is given up.
constexpr auto patience = 10ms;
constexpr std::uint32_t ranks = 2;
const Secret secret{"secret"};

Group group(std::uint32_t rank) {
  return {.rank = rank, .size = ranks, .job = "job", .secret = secret};
}

/// A unique name within this host.
Endpoint new_place() {
  static std::atomic<std::uint64_t> count = 0;
  return Endpoint::within_host("tutti-fuzz-" + std::to_string(getpid()) + "-" +
                               std::to_string(count++));
}

void wait_to_read(const Socket& socket) {
  pollfd watched{.fd = socket.fd(), .events = POLLIN, .revents = 0};
  (void)poll(&watched, 1, 1);
}

/// Reads until the other end closes the connection, or until the deadline.
void drain(const Socket& socket) {
  std::array<char, 4096> bytes{};
  const Clock::time_point deadline = Clock::now() + 2 * patience;
  while (Clock::now() < deadline) {
    const ssize_t got = recv(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0) return;
    if (got < 0) wait_to_read(socket);
  }
}

/// A peer that may know the secret and then sends arbitrary data.
struct FuzzedPeer {
  bool knows_secret = true;
  std::string greeting{};
  std::string words{};

  void talk(const Socket& socket, Handshake::Side side) const {
    if (knows_secret && !shake_hands(socket, side)) return;
    (void)put(socket, words);
    drain(socket);
  }

 private:
  [[nodiscard]] bool shake_hands(const Socket& socket, Handshake::Side side) const {
    Handshake handshake(side, secret, greeting);
    Channel channel(Socket(dup(socket.fd())));
    const Clock::time_point deadline = Clock::now() + 2 * patience;
    while (Clock::now() < deadline) {
      const Handshake::State state = handshake.advance(channel);
      if (state == Handshake::State::done) return true;
      if (state == Handshake::State::refused) return false;
      wait_to_read(socket);
    }
    return false;
  }
};

FuzzedPeer peer_from(Tape& tape, std::uint32_t rank) {
  FuzzedPeer peer{.greeting = greeting(group(rank))};
  const std::uint32_t what = tape.byte();
  peer.knows_secret = what % 8 != 0;
  if (what % 8 == 1) peer.greeting = tape.take(tape.byte() % Handshake::most_greeting);
  constexpr std::size_t most_words = 60000;  // Less than the buffer of a socket.
  peer.words = tape.take(most_words);
  return peer;
}

void require_descriptors(const std::optional<std::vector<std::string>>& descriptors,
                         std::uint32_t own) {
  if (!descriptors) return;
  require(descriptors->size() == ranks,
          "the number of descriptors differs from the number of ranks");
  // A root may send any descriptors, but rank 0 knows its own.
  require(own > 0 || descriptors->front() == "descriptor", "the rank's own descriptor differs");
}

void test_root(Tape& tape) {
  const FuzzedPeer peer = peer_from(tape, 1);
  TcpRoot root(group(0), listen_on(new_place(), {}), Clock::now() + patience);
  std::thread other([&peer, at = root.endpoint()] {
    const Socket socket = begin_connect(at);
    if (socket) peer.talk(socket, Handshake::Side::dials);
  });
  std::optional<std::vector<std::string>> descriptors;
  try {
    descriptors = attempt([&] { return root.all_gather("descriptor"); },
                          {ErrorCode::timed_out, ErrorCode::peer_lost, ErrorCode::internal});
  } catch (...) {
    other.join();
    throw;
  }
  other.join();
  require_descriptors(descriptors, 0);
}

void test_member(Tape& tape) {
  const FuzzedPeer peer = peer_from(tape, 0);
  const Socket listener = listen_on(new_place(), {});
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) {
      if (const Socket socket = accept_from(listener)) {
        peer.talk(socket, Handshake::Side::accepts);
      } else {
        wait_to_read(listener);
      }
    }
  });
  std::optional<std::vector<std::string>> descriptors;
  try {
    // A malicious rank 0 can report any error.
    descriptors = attempt(
        [&] {
          TcpMember member(
              group(1), [&] { return std::vector{bound_to(listener)}; }, Clock::now() + patience);
          return member.all_gather("descriptor");
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
  require_descriptors(descriptors, 1);
}

}  // namespace

void try_rendezvous(std::string_view input) {
  Tape tape(input);
  if (tape.byte() % 2 == 0) {
    test_root(tape);
  } else {
    test_member(tape);
  }
}

}  // namespace tutti::test
