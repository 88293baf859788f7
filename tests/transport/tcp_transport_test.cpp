#include "transport/tcp/tcp_transport.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"
#include "support/ipv6.hpp"
#include "support/tcp_ranks.hpp"
#include "transport/tcp_transports.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(Tcp, TcpTransports, testing::Bool(),
                         [](const auto& each) { return each.param ? "Encrypted" : "Plain"; });

// Streams -------------------------------------------------------------------------------------

TEST_P(TcpTransports, StreamsBothWaysBetweenAllPairs) {
  struct Case {
    std::uint32_t ranks;
    std::size_t bytes;
    std::size_t most_piece;
    const char* address;
  };
  for (const Case& each :
       {Case{2, 3000000, 300000, "127.0.0.1:0"}, Case{2, 3000, 20, "[::1]:0"},
        Case{5, 300000, 70000, "[::1]:0"}, Case{16, 20000, 5000, "127.0.0.1:0"}}) {
    if (each.address[0] == '[' && !has_ipv6()) continue;
    TcpRanks ranks = of(each.ranks, each.address);
    together(each.ranks, [&](std::uint32_t r) {
      exchange_with_all(*ranks.transport(r), r, each.ranks, each.bytes, each.most_piece);
    });
  }
}

TEST_P(TcpTransports, WritesLongPiecesThroughSmallBuffers) {
  TcpRanks ranks = of(2);
  set_buffers(ranks.listeners[1], 8192);
  together(2, [&](std::uint32_t r) {
    const auto transport = ranks.transport(r);
    const Rank peer{1 - r};
    const std::vector<std::byte> out = stream(r, 1 - r, 3000000);
    std::vector<std::byte> in(out.size());
    bool sent = false;
    bool was_pending = false;
    std::size_t at = 0;
    drive(*transport, [&] {
      bool moved = false;
      if (!sent) {
        const std::size_t taken = send(*transport, peer, out);
        // All or nothing.
        EXPECT_TRUE(taken == 0 || taken == out.size());
        sent = moved = taken > 0;
      }
      if (sent && !is_released(*transport, peer)) {
        was_pending = true;
        EXPECT_EQ(send(*transport, peer, out), 0U) << "there is no room";
      }
      if (at < in.size()) {
        const std::size_t got = receive(*transport, peer, std::span(in).subspan(at));
        at += got;
        moved |= got > 0;
      }
      const bool done = at == in.size() && sent && is_released(*transport, peer);
      return done ? Progress::done : moved ? Progress::some : Progress::none;
    });
    EXPECT_TRUE(was_pending || r == 0) << r;
    EXPECT_EQ(in, stream(1 - r, r, in.size()));
  });
}

TEST_P(TcpTransports, NeverSplitsAnElement) {
  TcpRanks ranks = of(2);
  set_buffers(ranks.listeners[1], 4096);
  constexpr std::size_t element = 8;
  const std::vector<std::size_t> frames{40000, 8, 3, 64, 72, 8000, 1, 123456, 16};
  together(2, [&](std::uint32_t r) {
    const auto transport = ranks.transport(r);
    if (r == 0) {
      for (const std::size_t bytes : frames) {
        const std::vector<std::byte> data(bytes, std::byte{7});
        send_all(*transport, Rank{1}, data);
      }
      return;
    }
    for (std::size_t f = 0; f < frames.size(); ++f) {
      std::size_t at = 0;
      std::vector<std::byte> room(frames[f]);
      drive(*transport, [&] {
        std::size_t got = 0;
        if (f % 2 == 0) {
          const std::span<const std::byte> here = arrived(*transport, Rank{0});
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(here.data()) % element, 0U);
          // Consume a part, to check that the rest stays aligned.
          got = here.size() > 640 ? 640 : here.size();
          EXPECT_TRUE(at + here.size() == frames[f] || (at + here.size()) % 64 == 0)
              << at << " + " << here.size() << " of " << frames[f];
          if (got > 0) consume(*transport, Rank{0}, got);
        } else {
          got = receive(*transport, Rank{0}, std::span(room).subspan(at));
          EXPECT_TRUE(at + got == frames[f] || (at + got) % 64 == 0)
              << at << " + " << got << " of " << frames[f];
        }
        at += got;
        return at == frames[f] ? Progress::done : got > 0 ? Progress::some : Progress::none;
      });
    }
  });
}

// Connections ---------------------------------------------------------------------------------

TEST_P(TcpTransports, ConnectsOnlyRanksThatCommunicate) {
  constexpr std::uint32_t p = 8;
  TcpRanks ranks = of(p);
  together(p, [&](std::uint32_t r) {
    const auto transport = ranks.transport(r);
    EXPECT_EQ(transport->connections(), 0U);
    const std::byte token{9};
    const Rank next{(r + 1) % p};
    const Rank previous{(r + p - 1) % p};
    bool sent = false;
    drive(*transport, [&] {
      if (!sent) sent = send(*transport, next, {&token, 1}) > 0;
      std::byte got{};
      return receive(*transport, previous, {&got, 1}) == 1 ? Progress::done : Progress::none;
    });
    drive(*transport, [&] {
      if (!sent) sent = send(*transport, next, {&token, 1}) > 0;
      return sent ? Progress::done : Progress::none;
    });
    EXPECT_EQ(transport->connections(), 2U);
  });
}

/// Rank 1 sends to rank 0, which only waits. True if they are connected before the deadline.
bool connect_by_sending(TcpEnd& low, TcpEnd& high, Clock::time_point deadline) {
  const std::byte data{42};
  const auto is_connected = [&] { return high.connections() > 0 && low.connections() > 0; };
  together(2, [&](std::uint32_t r) {
    for (std::uint32_t idle = 1; !is_connected() && Clock::now() < deadline; ++idle) {
      const std::array to{Rank{0}};
      if (r == 1) (void)send(high, to.front(), {&data, 1});
      (r == 0 ? low : high).wait(idle, deadline);
    }
  });
  return is_connected();
}

/// Another communicator of rank 0 has tried in vain to reach rank 2, and waits no more. Its overdue
/// dial must not keep rank 0 from hearing that rank 1 wants to send.
TEST_P(TcpTransports, OverdueDialOfOnePortDoesNotDelayAnother) {
  TcpRanks ranks = of(3);
  shutdown(ranks.listeners[2].fd(), SHUT_RDWR);
  const auto low = ranks.transport(0);
  const auto high = ranks.transport(1);
  const Clock::time_point deadline = Clock::now() + 5s;
  const auto other = low->another_port(TcpEnd::context + 1);
  EXPECT_TRUE(arrived(*other, Rank{2}).empty());
  (void)other->wait(1, deadline);
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(connect_by_sending(*low, *high, deadline));
}

/// Waits until each of the two has refused the other for good. False if they have not.
bool refuse_each_other(TcpEnd& low, TcpEnd& foreign, Rank low_rank, Rank foreign_rank) {
  const Clock::time_point deadline = Clock::now() + 5s;
  std::atomic<bool> is_refused = false;
  together(2, [&](std::uint32_t r) {
    TcpEnd& transport = r == 0 ? low : foreign;
    try {
      for (std::uint32_t idle = 1; !is_refused && Clock::now() < deadline; ++idle) {
        (void)arrived(transport, r == 0 ? foreign_rank : low_rank);
        transport.wait(idle, deadline);
      }
    } catch (const Error&) {
      is_refused = true;
    }
  });
  return is_refused;
}

/// A peer that has refused this rank for good must not keep it from looking at its sockets.
TEST_P(TcpTransports, HopelessPeerDoesNotDelayAnother) {
  TcpRanks ranks = of(3);
  const auto low = ranks.transport(0);
  const auto high = ranks.transport(1);
  ranks.secret = secret("another");
  const auto foreign = ranks.transport(2);
  EXPECT_TRUE(refuse_each_other(*low, *foreign, Rank{0}, Rank{2}));
  EXPECT_TRUE(connect_by_sending(*low, *high, Clock::now() + 5s));
}

/// Nor does it keep this rank awake.
TEST_P(TcpTransports, SleepsDespiteAHopelessPeer) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.secret = secret("another");
  const auto foreign = ranks.transport(1);
  EXPECT_TRUE(refuse_each_other(*low, *foreign, Rank{0}, Rank{1}));
  std::this_thread::sleep_for(2100ms);  // For so long it goes on to answer.
  constexpr std::uint32_t idle = 1000;  // It has spun and yielded before.
  int waits = 0;
  for (const Clock::time_point end = Clock::now() + 500ms; Clock::now() < end; ++waits) {
    low->wait(idle, end);
  }
  EXPECT_LT(waits, 100);
}

TEST_P(TcpTransports, TriesAllAddresses) {
  TcpRanks ranks = of(2);
  // This socket is bound but does not listen.
  const Socket closed = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  const Endpoint nowhere = bound_to(closed);
  shutdown(closed.fd(), SHUT_RDWR);
  ranks.contacts[1].endpoints.insert(ranks.contacts[1].endpoints.begin(), nowhere);
  together(2, [&](std::uint32_t r) { exchange_with_all(*ranks.transport(r), r, 2, 1000, 100); });
}

TEST_P(TcpTransports, DestructorLosesNoData) {
  for (const bool is_sent_to : {false, true}) {
    Pair pair(of(2));
    const std::vector<std::byte> data = stream(0, 1, 3000000);
    const std::vector<std::byte> unwanted(100000);
    if (is_sent_to) send_all(*pair.high, Rank{0}, unwanted);
    const Rank peer{1};
    ASSERT_EQ(send(*pair.low, peer, data), data.size());
    std::thread closer([&] { pair.low.reset(); });
    // The receiver is slow.
    std::this_thread::sleep_for(100ms);
    const Rank gone{0};
    if (is_sent_to) {
      EXPECT_EQ(send(*pair.high, gone, unwanted), unwanted.size());
    }
    EXPECT_EQ(receive_all(*pair.high, Rank{0}, data.size()), data);
    closer.join();
    expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
                 "rank 0 on host0");
  }
}

/// A failure limits the wait for the data of the communicator that has failed. What another one
/// sends afterwards is waited for.
TEST_P(TcpTransports, DestructorLosesNoDataThatWasSentAfterAFailure) {
  const std::vector<std::byte> data = stream(0, 1, 3000000);
  const Rank peer{1};
  for (const bool is_sent_by_another : {true, false}) {
    TcpRanks ranks = of(2);
    ranks.closing_timeout = 20s;
    set_buffers(ranks.listeners[1], 1 << 16);  // So that the receiver's host has no room for it.
    Pair pair(std::move(ranks));
    const auto failed = pair.low->another_port(TcpEnd::context + 1);
    if (is_sent_by_another) failed->revoke();
    ASSERT_EQ(send(*pair.low, peer, data), data.size());
    if (!is_sent_by_another) pair.low->port().revoke();
    failed->abandon();
    const Clock::time_point begin = Clock::now();
    std::jthread closer([&] { pair.low.reset(); });
    if (is_sent_by_another) {
      std::this_thread::sleep_for(2500ms);
      EXPECT_EQ(receive_all(*pair.high, Rank{0}, data.size()), data);
      closer.join();
    } else {
      closer.join();
      EXPECT_LT(Clock::now(), begin + 15s);
    }
  }
}

TEST_P(TcpTransports, DestructorDoesNotWaitForClosingPeer) {
  Pair pair(of(2));
  const std::vector<std::byte> data(3000000);
  const Rank zero{0};
  const Rank one{1};
  ASSERT_EQ(send(*pair.low, one, data), data.size());
  ASSERT_EQ(send(*pair.high, zero, data), data.size());
  const Clock::time_point begin = Clock::now();
  together(2, [&](std::uint32_t r) { (r == 0 ? pair.low : pair.high).reset(); });
  EXPECT_LT(Clock::now(), begin + 1500ms);
}

// Waiting -------------------------------------------------------------------------------------

std::chrono::microseconds own_cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST_P(TcpTransports, SleepsDespiteDataThatItDoesNotWantYet) {
  TcpRanks ranks = of(3);
  const auto zero = ranks.transport(0);
  const auto one = ranks.transport(1);
  const auto two = ranks.transport(2);
  const std::vector<std::byte> data(100);
  together(3, [&](std::uint32_t r) {
    if (r == 0) send_all(*zero, Rank{2}, data);
    if (r == 1) send_all(*one, Rank{2}, data);
    if (r == 2) {
      (void)receive_all(*two, Rank{0}, 100);
      (void)receive_all(*two, Rank{1}, 100);
    }
  });
  // Rank 1 is ahead. Rank 2 waits for rank 0 first.
  send_all(*one, Rank{2}, data);
  std::thread late([&] {
    std::this_thread::sleep_for(300ms);
    send_all(*zero, Rank{2}, data);
  });
  const auto before = own_cpu_time();
  EXPECT_EQ(receive_all(*two, Rank{0}, 100), data);
  EXPECT_LT(own_cpu_time() - before, 20ms);
  EXPECT_EQ(receive_all(*two, Rank{1}, 100), data);
  late.join();
}

// Several communicators on one connection ------------------------------------------------------

constexpr std::uint64_t other_context = 2;

TEST_P(TcpTransports, CommunicatorsReceiveInAnyOrderOnOneConnection) {
  Pair pair(of(2));
  const auto low = pair.low->another_port(other_context);
  const auto high = pair.high->another_port(other_context);
  const Rank one{1};
  const std::vector<std::byte> first = stream(0, 1, 100000);
  const std::vector<std::byte> second = stream(5, 6, 30001);
  send_all(*pair.low, one, first);
  ASSERT_EQ(send(*low, one, second), second.size());
  // The data sent last is received first. The earlier data on the connection is kept.
  std::vector<std::byte> got(second.size());
  std::size_t at = 0;
  for (int i = 0; i < 10000 && at < got.size(); ++i) {
    at += receive(*high, Rank{0}, std::span(got).subspan(at));
    if (!is_released(*low, one)) low->wait(1, Clock::now() + 1s);
  }
  EXPECT_EQ(got, second);
  EXPECT_EQ(receive_all(*pair.high, Rank{0}, first.size()), first);
  EXPECT_EQ(pair.low->connections(), 1U);
}

TEST_P(TcpTransports, WindowBoundsUnreceivedDataOfOneCommunicator) {
  Pair pair(of(2));
  const auto low = pair.low->another_port(other_context);
  const auto high = pair.high->another_port(other_context);
  const Rank one{1};
  const std::vector<std::byte> unwanted(1 << 20);
  std::size_t taken = 0;
  const Clock::time_point end = Clock::now() + 500ms;
  std::vector<std::byte> got(1000);
  std::size_t at = 0;
  const std::vector<std::byte> wanted = stream(0, 1, got.size());
  bool sent = false;
  while (Clock::now() < end && (at < got.size() || taken < 2 * Stream::window)) {
    taken += send(*low, one, unwanted);
    (void)low->unreleased(one);
    if (!sent && taken >= Stream::window) sent = send(*pair.low, one, wanted) > 0;
    at += receive(*pair.high, Rank{0}, std::span(got).subspan(at));
    (void)low->wait(1, end);
    (void)pair.high->wait(1, end);
  }
  EXPECT_EQ(taken, Stream::window) << "send() takes at most one window";
  EXPECT_EQ(got, wanted);
  // Once data is consumed, send() takes more.
  std::vector<std::byte> read(Stream::window);
  std::size_t consumed = 0;
  std::size_t more = 0;
  for (int i = 0; i < 100000 && more == 0; ++i) {
    consumed += receive(*high, Rank{0}, std::span(read).subspan(consumed));
    more = send(*low, one, unwanted);
    (void)low->wait(1, Clock::now() + 1s);
  }
  EXPECT_GT(more, 0U);
}

TEST_P(TcpTransports, ThreadWakesForDataReadByAnotherThread) {
  Pair pair(of(2));
  const auto low = pair.low->another_port(other_context);
  const auto high = pair.high->another_port(other_context);
  const Rank one{1};
  const std::byte token{9};
  std::byte got{};
  // It falls asleep before anything arrives, and its nap is long.
  std::thread sleeper([&] {
    for (std::uint32_t idle = 1; receive(*high, Rank{0}, {&got, 1}) == 0; ++idle) {
      (void)high->wait(idle, Clock::now() + 20s);
    }
  });
  std::this_thread::sleep_for(50ms);
  ASSERT_EQ(send(*low, one, {&token, 1}), 1U);
  ASSERT_EQ(send(*pair.low, one, {&token, 1}), 1U);
  (void)receive_all(*pair.high, Rank{0}, 1);
  sleeper.join();
  EXPECT_EQ(got, token);
}

TEST_P(TcpTransports, ClosingPortInMidTransferDoesNotHarmOtherPorts) {
  for (const bool closes_receiver : {false, true}) {
    Pair pair(of(2));
    auto low = pair.low->another_port(other_context);
    auto high = pair.high->another_port(other_context);
    const Rank one{1};
    std::vector<std::byte> gone = stream(0, 1, Stream::window);
    ASSERT_EQ(send(*low, one, gone), gone.size());
    if (closes_receiver) {
      std::vector<std::byte> some(1000);
      for (int i = 0; i < 1000 && receive(*high, Rank{0}, some) == 0; ++i) {
      }
      high.reset();
    }
    low.reset();
    gone.clear();
    gone.shrink_to_fit();
    const std::vector<std::byte> data = stream(2, 3, 100000);
    together(2, [&](std::uint32_t r) {
      if (r == 0) send_all(*pair.low, one, data);
      if (r == 1) {
        EXPECT_EQ(receive_all(*pair.high, Rank{0}, data.size()), data);
      }
    });
  }
}

}  // namespace
}  // namespace tutti::test
