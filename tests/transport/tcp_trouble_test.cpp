#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "net/greeting.hpp"
#include "support/errors.hpp"
#include "support/line.hpp"
#include "support/port_streams.hpp"
#include "support/sanitizer.hpp"
#include "transport/tcp_transports.hpp"

/// Peers that cannot be reached, are rejected, belong to another job, or die.
namespace tutti::test {
namespace {

class TcpTroubles : public TcpTransports {};

INSTANTIATE_TEST_SUITE_P(Tcp, TcpTroubles, testing::Bool(),
                         [](const auto& each) { return each.param ? "Encrypted" : "Plain"; });

/// Waits until the transport gives up, which it should do at the deadline.
void receive_in_vain(TcpEnd& transport, Rank peer, Clock::time_point deadline) {
  for (std::uint32_t idle = 1; Clock::now() < deadline + 2s; ++idle) {
    EXPECT_TRUE(arrived(transport, peer).empty());
    transport.wait(idle, deadline);
  }
}

TEST_P(TcpTroubles, ErrorListsAddressesThatFailed) {
  TcpRanks ranks = of(2);
  shutdown(ranks.listeners[1].fd(), SHUT_RDWR);
  ranks.contacts[1].endpoints.push_back(Endpoint::parse("127.0.0.2:1"));
  const auto transport = ranks.transport(0);
  const Clock::time_point deadline = Clock::now() + 50ms;
  const auto receive = [&] { receive_in_vain(*transport, Rank{1}, deadline); };
  const std::string first = ranks.contacts[1].endpoints[0].text();
  expect_error(receive, ErrorCode::peer_lost,
               "rank 0 on host0 cannot reach rank 1 on host1 at " + first +
                   " (Connection refused), 127.0.0.2:1 (Connection refused)");
  EXPECT_LT(Clock::now(), deadline + 1s);
}

/// The kernel accepts connections even for a stopped process.
TEST_P(TcpTroubles, SilentPeerTimesOutAndIsNotLost) {
  TcpRanks ranks = of(2);
  const auto transport = ranks.transport(0);
  const Clock::time_point deadline = Clock::now() + 50ms;
  const auto receive = [&] { receive_in_vain(*transport, Rank{1}, deadline); };
  expect_error(receive, ErrorCode::timed_out, "connected, but no answer yet");
}

TEST_P(TcpTroubles, ErrorNamesPeerThatHasNotConnected) {
  TcpRanks ranks = of(2);
  const auto transport = ranks.transport(1);
  const Clock::time_point deadline = Clock::now() + 50ms;
  const auto receive = [&] { receive_in_vain(*transport, Rank{0}, deadline); };
  expect_error(receive, ErrorCode::timed_out, "rank 0 on host0 has not connected to rank 1");
}

/// While it exists, the process cannot open descriptors.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0);
    close(next);
    const rlimit tight{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &tight);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_P(TcpTroubles, ReportsNoDescriptorToConnect) {
  TcpRanks ranks = of(2);
  const auto transport = ranks.transport(0);
  const NoDescriptors limit;
  const Clock::time_point begin = Clock::now();
  const auto receive = [&] { receive_in_vain(*transport, Rank{1}, begin + 20s); };
  expect_error(receive, ErrorCode::unsupported,
               "rank 0 on host0 cannot connect to rank 1 on host1: Too many open files: raise");
  EXPECT_LT(Clock::now(), begin + 5s);
}

TEST_P(TcpTroubles, ReportsNoDescriptorToAccept) {
  TcpRanks ranks = of(2);
  const auto transport = ranks.transport(1);
  const Socket caller = begin_connect(ranks.contacts[1].endpoints[0]);
  const NoDescriptors limit;
  const Clock::time_point begin = Clock::now();
  const auto receive = [&] { receive_in_vain(*transport, Rank{0}, begin + 20s); };
  expect_error(receive, ErrorCode::unsupported,
               "rank 1 on host1 cannot accept a connection: Too many open files: raise");
  EXPECT_LT(Clock::now(), begin + 5s);
}

/// Expects that `high` rejects `low`, with an error that contains `words`, well before the
/// deadline. If the lower rank is late, the higher one dials as well.
void expect_rejected(TcpEnd& low, TcpEnd& high, const std::string& words,
                     Clock::duration late = 0ms) {
  std::atomic<bool> over = false;
  const Clock::time_point begin = Clock::now();
  together(2, [&](std::uint32_t r) {
    TcpEnd& transport = r == 0 ? low : high;
    if (r == 0) std::this_thread::sleep_for(late);
    const auto receive = [&] {
      for (std::uint32_t idle = 1; !over; ++idle) {
        EXPECT_TRUE(arrived(transport, 1 - r).empty());
        transport.wait(idle, begin + 10s);
      }
    };
    if (r == 0) {
      expect_error(receive, ErrorCode::peer_lost, words);
      over = true;
      return;
    }
    try {
      receive();
    } catch (const Error& error) {
      // On a slow machine it has dialled as well, and was rejected.
      EXPECT_EQ(error.code(), ErrorCode::peer_lost) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  });
  EXPECT_LT(Clock::now(), begin + 5s);
}

TEST_P(TcpTroubles, RefusesDifferentSecret) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.secret = secret("another");
  const auto high = ranks.transport(1);
  expect_rejected(*low, *high, "TUTTI_SECRET");
}

TEST_P(TcpTroubles, ReportsThatOnlyOneEndEncrypts) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.secret = GetParam() ? Secret{.bytes = ranks.secret.bytes} : ranks.secret.encrypting();
  const auto high = ranks.transport(1);
  expect_rejected(*low, *high, "TUTTI_TLS=1 for all ranks, or for none");
}

/// Both dial, and the end that is refused first still answers the other one.
TEST_P(TcpTroubles, ReportsAtBothEndsThatOnlyOneEncrypts) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    TcpRanks ranks = of(2);
    const auto low = ranks.transport(0);
    ranks.secret = GetParam() ? Secret{.bytes = ranks.secret.bytes} : ranks.secret.encrypting();
    const auto high = ranks.transport(1);
    expect_rejected(*low, *high, "TUTTI_TLS=1 for all ranks, or for none", 30ms);
  }
}

/// If two hosts have the same address, a rank of another job may answer there.
TEST_P(TcpTroubles, KeepsTryingIfAnotherJobAnswersAtOneAddress) {
  TcpRanks ranks = of(2);
  TcpRanks others = of(2);
  others.secret = Secret{.bytes = "another"};
  if (GetParam()) others.secret = others.secret.encrypting();
  ranks.contacts[1].endpoints = {others.contacts[1].endpoints.front(),
                                 Endpoint::parse("127.0.0.2:1")};
  const auto foreign = others.transport(1);
  const auto zero = ranks.transport(0);
  const Clock::time_point deadline = Clock::now() + (is_sanitized ? 3000ms : 300ms);
  std::thread another_job([&] {
    for (std::uint32_t idle = 1; Clock::now() < deadline; ++idle) {
      (void)arrived(*foreign, Rank{0});
      foreign->wait(idle, deadline + 20s);
    }
  });
  const auto receive = [&] { receive_in_vain(*zero, Rank{1}, deadline); };
  expect_error(receive, ErrorCode::peer_lost, "Connection refused");
  EXPECT_GE(Clock::now(), deadline);
  another_job.join();
}

TEST_P(TcpTroubles, RefusesDifferentGroup) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.group = "another";
  const auto high = ranks.transport(1);
  together(2, [&](std::uint32_t r) {
    TcpEnd& transport = r == 0 ? *low : *high;
    // The accepting rank waits as long; the dialing rank needs its answer by then.
    const Clock::time_point deadline = Clock::now() + (is_sanitized ? 3000ms : 600ms);
    const auto receive = [&] {
      for (std::uint32_t idle = 1; Clock::now() < deadline + 2s; ++idle) {
        EXPECT_TRUE(arrived(transport, 1 - r).empty());
        transport.wait(idle, deadline);
      }
    };
    if (r == 0) expect_error(receive, ErrorCode::peer_lost, "tutti tcp 1 another 1");
    if (r == 1) expect_error(receive, ErrorCode::timed_out, "tutti tcp 1 test 0");
  });
}

/// What unauthenticated peers send: nothing, garbage, a record that is too long, and whole and
/// partial hellos, plain and TLS.
std::vector<std::string> unauthenticated_input(const Secret& secret) {
  std::vector<std::string> words{"", std::string(10000, 'x'),
                                 "\x16\x03\x01\xff\xff" + std::string(100, 'x')};
  for (const Secret& each : {Secret{.bytes = secret.bytes}, secret.encrypting()}) {
    Line line;
    Handshake handshake(Handshake::Side::dials, each, tcp_greeting("test", 0));
    (void)handshake.advance(line.a);
    const std::string hello = take(line.b);
    words.push_back(hello);
    words.push_back(hello.substr(0, 100));
  }
  return words;
}

TEST_P(TcpTroubles, UnauthenticatedPeersDoNotStallRanks) {
  TcpRanks ranks = of(2);
  const Endpoint door = ranks.contacts[1].endpoints.front();
  const std::vector<std::string> words = unauthenticated_input(ranks.secret);
  std::vector<Socket> sockets;
  for (std::size_t i = 0; i < 240; ++i) {
    sockets.push_back(begin_connect(door));
    ASSERT_TRUE(sockets.back());
    pollfd ready{.fd = sockets.back().fd(), .events = POLLOUT, .revents = 0};
    ASSERT_EQ(poll(&ready, 1, 1000), 1);
    const std::string& input = words[i % words.size()];
    (void)::send(ready.fd, input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // A third of them disconnect.
    if (i % 3 == 2) sockets.back() = Socket();
  }
  testing::internal::CaptureStderr();
  const Clock::time_point begin = Clock::now();
  together(2,
           [&](std::uint32_t r) { exchange_with_all(*ranks.transport(r), r, 2, 100000, 10000); });
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
  EXPECT_LT(seconds, 5s);
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string line = "tutti: rank 1 rejected a connection from 127.0.0.1";
  std::size_t lines = 0;
  for (auto at = log.find(line); at != std::string::npos; at = log.find(line, at + 1)) ++lines;
  EXPECT_GE(lines, 1U) << log;
  EXPECT_LE(lines, static_cast<std::size_t>(seconds.count()) + 1) << log;
}

// Failures ------------------------------------------------------------------------------------

TEST_P(TcpTroubles, DetectsPeerInAnotherCall) {
  Pair pair(of(2));
  pair.low->port().begin(7, {});
  pair.high->port().begin(8, {});
  const std::vector<std::byte> data(100, std::byte{1});
  send_all(*pair.low, Rank{1}, data);
  expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 100); }, ErrorCode::mismatch,
               "rank 0 on host0 is in another call");
  expect_error([&] { (void)arrived(*pair.high, Rank{0}); }, ErrorCode::mismatch, "rank 0");
  pair.high->port().begin(7, {});
  EXPECT_EQ(receive_all(*pair.high, Rank{0}, 100), data);
}

TEST_P(TcpTroubles, DetectsDeadPeerQuickly) {
  for (const std::size_t unread : {0U, 1000U}) {
    Pair pair(of(2));
    const std::vector<std::byte> last(1000, std::byte{3});
    send_all(*pair.low, Rank{1}, last);
    // Unread data in a closed socket makes the kernel reset the connection.
    if (unread > 0) send_all(*pair.high, Rank{0}, std::vector<std::byte>(unread));
    pair.low.reset();
    EXPECT_EQ(receive_all(*pair.high, Rank{0}, last.size()), last) << "sent before";
    const Clock::time_point begin = Clock::now();
    expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
                 "rank 0 on host0");
    expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
                 "rank 0 on host0");
    EXPECT_LT(Clock::now(), begin + 1s);
  }
}

TEST_P(TcpTroubles, DetectsDeadPeerWhileSleeping) {
  Pair pair(of(2));
  std::thread death([&] {
    std::this_thread::sleep_for(100ms);
    pair.low.reset();
  });
  const Clock::time_point begin = Clock::now();
  expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
               "rank 0 on host0");
  EXPECT_LT(Clock::now(), begin + 1s);
  death.join();
}

TEST_P(TcpTroubles, DetectsDeadPeerWhileSending) {
  Pair pair(of(2));
  pair.low.reset();
  const std::vector<std::byte> data(1 << 20);
  const auto send_on = [&] {
    for (int i = 0; i < 100; ++i) send_all(*pair.high, Rank{0}, data);
  };
  expect_error(send_on, ErrorCode::peer_lost, "rank 0 on host0");
  expect_error(send_on, ErrorCode::peer_lost, "rank 0 on host0");
}

/// One end has ended while data to the other end is under way. The end of the stream waits behind
/// that data, which no communicator of the other rank will read.
TEST_P(TcpTroubles, NewCommunicatorReplacesConnectionThatEndedBehindUnreadData) {
  Pair pair(of(2));
  const Rank low{0};
  const std::vector<std::byte> data(std::size_t{4} << 20);
  (void)send(*pair.high, low, data);
  const TcpTransport::Line* const line = pair.high->transport().reach(0, TcpEnd::context);
  ASSERT_NE(line, nullptr);
  shutdown(line->connection.fd(), SHUT_RDWR);
  pair.low->port().abandon();
  pair.high->port().abandon();
  std::vector<std::unique_ptr<Port>> ports;
  for (TcpEnd* const end : {pair.low.get(), pair.high.get()}) {
    (void)end->transport().offer({.context = 2, .self = {}, .members = {0, 1}});
  }
  for (TcpEnd* const end : {pair.low.get(), pair.high.get()}) ports.push_back(end->another_port(2));
  together(2, [&](std::uint32_t self) {
    Port& port = *ports[self];
    const Rank peer{1 - self};
    std::byte received{0};
    const std::byte sent{static_cast<unsigned char>(40 + self)};
    bool is_sent = false;
    const Clock::time_point deadline = Clock::now() + 10s;
    for (std::uint32_t idle = 0; received == std::byte{0} || !is_sent; ++idle) {
      ASSERT_LT(Clock::now(), deadline);
      if (!is_sent) is_sent = send(port, peer, {&sent, 1}) == 1;
      if (received == std::byte{0}) (void)receive(port, peer, {&received, 1});
      port.wait(idle, deadline);
    }
    EXPECT_EQ(received, std::byte{static_cast<unsigned char>(40 + peer)});
  });
}

TEST_P(TcpTroubles, DetectsPeerWithAnotherProtocol) {
  for (const std::byte length : {std::byte{0}, std::byte{0xff}}) {
    TcpRanks ranks = of(2);
    const Endpoint door = ranks.contacts[1].endpoints.front();
    const auto transport = ranks.transport(1);
    std::thread other([&] {
      Channel channel(begin_connect(door));
      Handshake handshake(Handshake::Side::dials, ranks.secret, tcp_greeting(ranks.group, 0));
      for (int i = 0; i < 1000 && handshake.advance(channel) != Handshake::State::done; ++i) {
        std::this_thread::sleep_for(1ms);
      }
      const std::vector<std::byte> frame(1000, length);
      (void)channel.write(frame.data(), frame.size());
      std::this_thread::sleep_for(50ms);
    });
    const std::uint32_t call = length == std::byte{0} ? 0 : 0xffffffff;
    transport->port().begin(call, {});
    expect_error([&] { (void)receive_all(*transport, Rank{0}, 1000); }, ErrorCode::peer_lost,
                 "speaks another protocol");
    other.join();
  }
}

}  // namespace
}  // namespace tutti::test
