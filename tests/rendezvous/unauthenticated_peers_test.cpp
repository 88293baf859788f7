#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "rendezvous/exchange_runs.hpp"
#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// Connects to `endpoint` and sends `words`.
Socket connect_and_send(const Endpoint& endpoint, const std::string& words) {
  Socket socket = begin_connect(endpoint);
  pollfd watched{.fd = socket.fd(), .events = POLLOUT, .revents = 0};
  EXPECT_EQ(poll(&watched, 1, 2000), 1);
  (void)send(socket.fd(), words.data(), words.size(), MSG_NOSIGNAL);
  return socket;
}

/// The first message of a rank's handshake.
std::string hello_of(const Group& rank) {
  std::array<int, 2> fds{-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  Channel a{Socket(fds[0])};
  const Socket b(fds[1]);
  Handshake handshake(Handshake::Side::dials, rank.secret, greeting(rank));
  (void)handshake.advance(a);
  std::string hello(4096, '\0');
  const ssize_t bytes = recv(b.fd(), hello.data(), hello.size(), 0);
  EXPECT_GT(bytes, 128);
  hello.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return hello;
}

struct Crowd {
  std::string name;
  int count;
  std::function<std::string()> words;
};

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// Peers of one kind, and whether the ranks encrypt.
class UnauthenticatedPeers : public testing::TestWithParam<std::tuple<Crowd, bool>> {};

TEST_P(UnauthenticatedPeers, DoNotDelayTheRanks) {
  const auto& [kind, encrypts] = GetParam();
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::vector<Socket> crowd;
  const std::string words = kind.words();
  for (int i = 0; i < kind.count / 2; ++i) crowd.push_back(connect_and_send(endpoint, words));
  std::atomic<bool> over = false;
  std::thread later([&, count = kind.count / 2] {
    // Some connect together with the ranks, while rank 0 listens.
    for (int i = 0; i < count && !over; ++i) {
      Socket socket = begin_connect(endpoint);
      if (socket) (void)send(socket.fd(), words.data(), words.size(), MSG_NOSIGNAL);
      crowd.push_back(std::move(socket));
    }
  });
  testing::internal::CaptureStderr();
  const auto begun = Clock::now();
  const auto results =
      meet(5, std::move(listener), 2, 20s, encrypts ? private_groups(5) : std::vector<Group>());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begun);
  over = true;
  later.join();
  expect_all_met(results, 2);
  EXPECT_LT(seconds, 3s);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_LE(lines_with(log, "rejected a"), static_cast<std::size_t>(seconds.count()) + 1) << log;
}

INSTANTIATE_TEST_SUITE_P(
    TcpExchange, UnauthenticatedPeers,
    testing::Combine(
        testing::Values(
            Crowd{"Silent", 20, [] { return std::string(); }},
            Crowd{"Garbage", 20, [] { return "GET / HTTP/1.1\r\n\r\n" + std::string(5000, 'x'); }},
            Crowd{"HalfAHello", 20, [] { return hello_of(group(1, 5)).substr(0, 128); }},
            Crowd{"NoProof", 20, [] { return hello_of(group(1, 5)); }},
            Crowd{"WrongProof", 20, [] { return hello_of(group(1, 5)) + std::string(500, 'p'); }},
            Crowd{"TlsHello", 20, [] { return hello_of(private_group(1, 5)); }},
            Crowd{"HalfATlsHello", 20, [] { return hello_of(private_group(1, 5)).substr(0, 99); }},
            Crowd{"HugeTlsLength", 20,
                  [] { return "\x16\x03\x01\xff\xff" + std::string(5000, 'x'); }},
            Crowd{"Flood", 400, [] { return std::string(); }}),
        testing::Bool()),
    [](const auto& each) {
      return std::get<0>(each.param).name + (std::get<1>(each.param) ? "Encrypted" : "Plain");
    });

TEST(UnauthenticatedPeersAtTheRoot, DoNotExhaustItsDescriptors) {
  // The root may open few more sockets than it needs; the peers take all of them.
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::vector<Socket> crowd;
  for (int i = 0; i < 30; ++i) crowd.push_back(connect_and_send(endpoint, ""));
  Result member;
  std::vector<Socket> hoard;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int highest = dup(listener.fd());
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(highest) + 8;
  close(highest);
  std::thread other([&] {
    member =
        play([&] { return std::make_unique<TcpMember>(group(1, 2), at(endpoint), in(10s)); }, 1, 1);
  });
  std::this_thread::sleep_for(100ms);
  setrlimit(RLIMIT_NOFILE, &tight);
  const Result root = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(10s)); }, 0, 1);
  setrlimit(RLIMIT_NOFILE, &before);
  other.join();
  expect_all_met({root, member});
}

/// How long after `begun` the root closed the connection of `socket`, up to 8 s.
Clock::duration closed_after(const Socket& socket, Clock::time_point begun) {
  pollfd watched{.fd = socket.fd(), .events = POLLRDHUP, .revents = 0};
  EXPECT_EQ(poll(&watched, 1, 8000), 1);
  return Clock::now() - begun;
}

TEST(UnauthenticatedPeersAtTheRoot, AreEvictedOldestFirst) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::vector<Socket> crowd;
  for (int i = 0; i < 200; ++i) crowd.push_back(connect_and_send(endpoint, ""));
  const auto begun = Clock::now();
  std::thread root([&] {
    (void)play([&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(1s)); },
               0, 1);
  });
  EXPECT_LT(closed_after(crowd.front(), begun), 500ms);
  EXPECT_GT(closed_after(crowd.back(), begun), 900ms);
  root.join();
}

TEST(SlowUnauthenticatedPeers, HaveFiveSecondsForTheHandshake) {
  Socket listener = listen_here();
  const Socket peer = connect_and_send(bound_to(listener), "");
  const auto begun = Clock::now();
  std::thread root([&] {
    (void)play([&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(7s)); },
               0, 1);
  });
  const auto time = closed_after(peer, begun);
  EXPECT_GT(time, 4s);
  EXPECT_LT(time, 6s);
  root.join();
}

TEST(UnauthenticatedPeersAtTheRoot, AreClosedWithTheRoot) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  const Socket peer = connect_and_send(endpoint, "");
  const Socket wrong = connect_and_send(endpoint, "hello?");
  (void)play([&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(300ms)); },
             0, 1);
  for (const Socket* each : {&peer, &wrong}) {
    pollfd watched{.fd = each->fd(), .events = POLLRDHUP, .revents = 0};
    EXPECT_EQ(poll(&watched, 1, 1000), 1);
  }
}

}  // namespace
}  // namespace tutti
