#include "transport/tcp/tcp_transport.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"
#include "support/line.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"
#include "support/tcp_ranks.hpp"
#include "transport/tcp/greeting.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

std::byte pattern(std::uint32_t from, std::uint32_t to, std::uint64_t at) {
  return static_cast<std::byte>(from * 31 + to * 17 + at + (at >> 8) * 7 + (at >> 16) * 3);
}

std::vector<std::byte> stream(std::uint32_t from, std::uint32_t to, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(from, to, i);
  return data;
}

/// Repeats `step` until it says that all is done, waiting whenever nothing moved.
enum class Progress { none, some, done };
void drive(TcpTransport& transport, const std::function<Progress()>& step,
           std::chrono::seconds limit = 20s) {
  const Clock::time_point deadline = Clock::now() + limit;
  std::uint32_t idle = 0;
  while (true) {
    const Progress progress = step();
    if (progress == Progress::done) return;
    idle = progress == Progress::some ? 0 : idle + 1;
    if (idle > 0) transport.wait(idle, deadline);
    ASSERT_LT(Clock::now(), deadline);
  }
}

void send_all(TcpTransport& transport, Rank peer, std::span<const std::byte> data) {
  drive(transport, [&] {
    if (!data.empty()) {
      const std::size_t taken = transport.send({&peer, 1}, data);
      data = data.subspan(taken);
      return taken > 0 ? Progress::some : Progress::none;
    }
    return transport.released(peer) == transport.sent(peer) ? Progress::done : Progress::none;
  });
}

std::vector<std::byte> receive_all(TcpTransport& transport, Rank peer, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  std::size_t at = 0;
  drive(transport, [&] {
    const std::size_t moved =
        at == bytes ? 0 : transport.receive(peer, std::span(data).subspan(at));
    at += moved;
    return at == bytes ? Progress::done : moved > 0 ? Progress::some : Progress::none;
  });
  return data;
}

/// Runs work(rank) for all ranks at once; failures are those of the threads.
void together(std::uint32_t ranks, const std::function<void(std::uint32_t)>& work) {
  std::vector<std::future<void>> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(std::async(std::launch::async, work, r));
  for (auto& each : all) each.get();
}

/// Two transports that are connected.
struct Pair {
  explicit Pair(TcpRanks ranks) : low(ranks.transport(0)), high(ranks.transport(1)) {
    const std::byte hello{42};
    together(2, [&](std::uint32_t r) {
      if (r == 0) send_all(*low, Rank{1}, {&hello, 1});
      if (r == 1) (void)receive_all(*high, Rank{0}, 1);
    });
  }
  std::unique_ptr<TcpTransport> low;
  std::unique_ptr<TcpTransport> high;
};

void set_buffers(const Socket& listener, int bytes) {
  // Whoever is accepted inherits them.
  setsockopt(listener.fd(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(listener.fd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/// Every test is made twice: with connections as they are, and encrypted.
class TcpTransports : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static TcpRanks of(std::uint32_t ranks,
                                   const std::string& address = "127.0.0.1:0") {
    TcpRanks all(ranks, address);
    all.secret = secret("open sesame");
    return all;
  }
  [[nodiscard]] static Secret secret(const std::string& bytes) {
    const Secret plain{.bytes = bytes};
    return GetParam() ? plain.encrypting() : plain;
  }
};

INSTANTIATE_TEST_SUITE_P(Tcp, TcpTransports, testing::Bool(),
                         [](const auto& each) { return each.param ? "Encrypted" : "Plain"; });

// Streams -------------------------------------------------------------------------------------

/// Sends to and receives from all others at once, in random pieces, some of them read where they
/// are, some moved.
void exchange_with_all(TcpTransport& transport, std::uint32_t self, std::uint32_t ranks,
                       std::size_t bytes, std::size_t most_piece) {
  struct With {
    std::vector<std::byte> out;
    std::size_t sent = 0;
    std::vector<std::byte> in;
    std::size_t received = 0;
    std::size_t piece = 0;
  };
  Random random(self);
  std::vector<With> all(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    all[r].out = stream(self, r, bytes);
    all[r].in.resize(bytes);
  }
  drive(transport, [&] {
    bool moved = false;
    bool done = true;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      if (r == self) continue;
      With& with = all[r];
      const Rank peer{r};
      if (with.sent < bytes) {
        if (with.piece == 0) {
          with.piece = 1 + random.below(std::min(most_piece, bytes - with.sent));
        }
        const std::size_t taken =
            transport.send({&peer, 1}, std::span(with.out).subspan(with.sent, with.piece));
        with.sent += taken;
        with.piece -= taken;
        moved |= taken > 0;
      }
      if (with.received < bytes) {
        const std::span<std::byte> to = std::span(with.in).subspan(with.received);
        std::size_t got = 0;
        if (random.one_in(2)) {
          got = transport.receive(peer, to.first(1 + random.below(to.size())));
        } else {
          const std::span<const std::byte> here = transport.arrived(peer);
          if (!here.empty()) {
            got = std::min(to.size(), 1 + random.below(here.size()));
            std::memcpy(to.data(), here.data(), got);
            transport.consume(peer, got);
          }
        }
        with.received += got;
        moved |= got > 0;
      }
      done &= with.sent == bytes && with.received == bytes &&
              transport.released(peer) == transport.sent(peer);
    }
    return done ? Progress::done : moved ? Progress::some : Progress::none;
  });
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (r != self) {
      EXPECT_EQ(all[r].in, stream(r, self, bytes)) << r << " to " << self;
    }
  }
}

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
        const std::size_t taken = transport->send({&peer, 1}, out);
        // Whole, or not at all.
        EXPECT_TRUE(taken == 0 || taken == out.size());
        sent = moved = taken > 0;
      }
      if (sent && transport->released(peer) < transport->sent(peer)) {
        was_pending = true;
        EXPECT_EQ(transport->send({&peer, 1}, out), 0U) << "there is no room";
      }
      if (at < in.size()) {
        const std::size_t got = transport->receive(peer, std::span(in).subspan(at));
        at += got;
        moved |= got > 0;
      }
      const bool done = at == in.size() && sent && transport->released(peer) == out.size();
      return done ? Progress::done : moved ? Progress::some : Progress::none;
    });
    EXPECT_TRUE(was_pending || r == 0) << r;
    EXPECT_EQ(in, stream(1 - r, r, in.size()));
  });
}

TEST_P(TcpTransports, NeverTearsAnElement) {
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
          const std::span<const std::byte> here = transport->arrived(Rank{0});
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(here.data()) % element, 0U);
          // Not all, to see that what is left stays aligned.
          got = here.size() > 640 ? 640 : here.size();
          EXPECT_TRUE(at + here.size() == frames[f] || (at + here.size()) % 64 == 0)
              << at << " + " << here.size() << " of " << frames[f];
          if (got > 0) transport->consume(Rank{0}, got);
        } else {
          got = transport->receive(Rank{0}, std::span(room).subspan(at));
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

TEST_P(TcpTransports, ConnectsOnlyWhoHaveToDoWithEachOther) {
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
      if (!sent) sent = transport->send({&next, 1}, {&token, 1}) > 0;
      std::byte got{};
      return transport->receive(previous, {&got, 1}) == 1 ? Progress::done : Progress::none;
    });
    drive(*transport, [&] {
      if (!sent) sent = transport->send({&next, 1}, {&token, 1}) > 0;
      return sent ? Progress::done : Progress::none;
    });
    EXPECT_EQ(transport->connections(), 2U);
  });
}

TEST_P(TcpTransports, TriesAllAddresses) {
  TcpRanks ranks = of(2);
  // Nobody listens where this socket is bound to.
  const Socket deaf = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  const Endpoint nowhere = bound_to(deaf);
  shutdown(deaf.fd(), SHUT_RDWR);
  ranks.contacts[1].endpoints.insert(ranks.contacts[1].endpoints.begin(), nowhere);
  together(2, [&](std::uint32_t r) { exchange_with_all(*ranks.transport(r), r, 2, 1000, 100); });
}

TEST_P(TcpTransports, SaysWhereItTriedInVain) {
  TcpRanks ranks = of(2);
  shutdown(ranks.listeners[1].fd(), SHUT_RDWR);
  ranks.contacts[1].endpoints.push_back(Endpoint::parse("[::1]:1"));
  const auto transport = ranks.transport(0);
  const Clock::time_point deadline = Clock::now() + 50ms;
  const auto receive = [&] {
    for (std::uint32_t idle = 1; Clock::now() < deadline + 2s; ++idle) {
      EXPECT_TRUE(transport->arrived(Rank{1}).empty());
      transport->wait(idle, deadline);
    }
  };
  const std::string first = ranks.contacts[1].endpoints[0].text();
  expect_error(receive, ErrorCode::peer_lost,
               "rank 0 on host0 cannot reach rank 1 on host1 at " + first +
                   " (Connection refused), [::1]:1 (Connection refused)");
  EXPECT_LT(Clock::now(), deadline + 1s);
}

TEST_P(TcpTransports, SaysWhoHasNotCalled) {
  TcpRanks ranks = of(2);
  const auto transport = ranks.transport(1);
  const Clock::time_point deadline = Clock::now() + 50ms;
  const auto receive = [&] {
    for (std::uint32_t idle = 1; Clock::now() < deadline + 2s; ++idle) {
      EXPECT_TRUE(transport->arrived(Rank{0}).empty());
      transport->wait(idle, deadline);
    }
  };
  expect_error(receive, ErrorCode::timed_out, "rank 0 on host0 has not connected to rank 1");
}

TEST_P(TcpTransports, RefusesAnotherSecret) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.secret = secret("another");
  const auto high = ranks.transport(1);
  std::atomic<bool> over = false;
  const Clock::time_point begin = Clock::now();
  together(2, [&](std::uint32_t r) {
    TcpTransport& transport = r == 0 ? *low : *high;
    const auto receive = [&] {
      for (std::uint32_t idle = 1; !over; ++idle) {
        EXPECT_TRUE(transport.arrived(Rank{1 - r}).empty());
        transport.wait(idle, begin + 10s);
      }
    };
    if (r == 1) return receive();
    expect_error(receive, ErrorCode::peer_lost, "TUTTI_SECRET");
    over = true;
  });
  EXPECT_LT(Clock::now(), begin + 5s);
}

TEST_P(TcpTransports, SaysAtOnceThatOnlyOneEndEncrypts) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.secret = GetParam() ? Secret{.bytes = ranks.secret.bytes} : ranks.secret.encrypting();
  const auto high = ranks.transport(1);
  std::atomic<bool> over = false;
  const Clock::time_point begin = Clock::now();
  together(2, [&](std::uint32_t r) {
    TcpTransport& transport = r == 0 ? *low : *high;
    const auto receive = [&] {
      for (std::uint32_t idle = 1; !over; ++idle) {
        EXPECT_TRUE(transport.arrived(Rank{1 - r}).empty());
        transport.wait(idle, begin + 10s);
      }
    };
    if (r == 1) return receive();
    expect_error(receive, ErrorCode::peer_lost, "TUTTI_TLS=1 for all ranks, or for none");
    over = true;
  });
  EXPECT_LT(Clock::now(), begin + 1s);
}

TEST_P(TcpTransports, RefusesAnotherGroup) {
  TcpRanks ranks = of(2);
  const auto low = ranks.transport(0);
  ranks.group = "another";
  const auto high = ranks.transport(1);
  together(2, [&](std::uint32_t r) {
    TcpTransport& transport = r == 0 ? *low : *high;
    // The one who is called waits for as long; the caller needs its answer by then.
    const Clock::time_point deadline = Clock::now() + (is_sanitized ? 3000ms : 600ms);
    const auto receive = [&] {
      for (std::uint32_t idle = 1; Clock::now() < deadline + 2s; ++idle) {
        EXPECT_TRUE(transport.arrived(Rank{1 - r}).empty());
        transport.wait(idle, deadline);
      }
    };
    if (r == 0) expect_error(receive, ErrorCode::peer_lost, "tutti tcp 1 another 1");
    if (r == 1) expect_error(receive, ErrorCode::timed_out, "tutti tcp 1 test 0");
  });
}

/// What strangers say: nothing, nonsense, half of what a rank says, the beginning of a TLS
/// handshake, or of one with a record that is too long.
std::vector<std::string> words_of_strangers(const Secret& secret) {
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

TEST_P(TcpTransports, IsNotStalledByStrangers) {
  TcpRanks ranks = of(2);
  const Endpoint door = ranks.contacts[1].endpoints.front();
  const std::vector<std::string> words = words_of_strangers(ranks.secret);
  std::vector<Socket> strangers;
  for (std::size_t i = 0; i < 240; ++i) {
    strangers.push_back(begin_connect(door));
    ASSERT_TRUE(strangers.back());
    pollfd ready{.fd = strangers.back().fd(), .events = POLLOUT, .revents = 0};
    ASSERT_EQ(poll(&ready, 1, 1000), 1);
    const std::string& said = words[i % words.size()];
    (void)send(ready.fd, said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // A third go away again.
    if (i % 3 == 2) strangers.back() = Socket();
  }
  testing::internal::CaptureStderr();
  const Clock::time_point begin = Clock::now();
  together(2,
           [&](std::uint32_t r) { exchange_with_all(*ranks.transport(r), r, 2, 100000, 10000); });
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
  EXPECT_LT(seconds, 5s);
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string line = "tutti: rank 1 turned away a connection from 127.0.0.1";
  std::size_t lines = 0;
  for (auto at = log.find(line); at != std::string::npos; at = log.find(line, at + 1)) ++lines;
  EXPECT_GE(lines, 1U) << log;
  EXPECT_LE(lines, static_cast<std::size_t>(seconds.count()) + 1) << log;
}

// Failures ------------------------------------------------------------------------------------

TEST_P(TcpTransports, NoticesThatAPeerIsInAnotherCall) {
  Pair pair(of(2));
  pair.low->begin(7, 7);
  pair.high->begin(8, 8);
  const std::vector<std::byte> data(100, std::byte{1});
  send_all(*pair.low, Rank{1}, data);
  expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 100); }, ErrorCode::mismatch,
               "rank 0 on host0 is in another call");
  expect_error([&] { (void)pair.high->arrived(Rank{0}); }, ErrorCode::mismatch, "rank 0");
  pair.high->begin(7, 7);
  EXPECT_EQ(receive_all(*pair.high, Rank{0}, 100), data);
}

TEST_P(TcpTransports, NoticesQuicklyThatAPeerHasDied) {
  for (const std::size_t unread : {0U, 1000U}) {
    Pair pair(of(2));
    const std::vector<std::byte> last(1000, std::byte{3});
    send_all(*pair.low, Rank{1}, last);
    // What the dead leave unread makes the system break off the connection.
    if (unread > 0) send_all(*pair.high, Rank{0}, std::vector<std::byte>(unread));
    pair.low->abandon();
    EXPECT_EQ(receive_all(*pair.high, Rank{0}, last.size()), last) << "sent before";
    const Clock::time_point begin = Clock::now();
    expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
                 "rank 0 on host0");
    expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
                 "rank 0 on host0");
    EXPECT_LT(Clock::now(), begin + 1s);
  }
}

TEST_P(TcpTransports, NoticesThatAPeerHasDiedWhileItSleeps) {
  Pair pair(of(2));
  std::thread death([&] {
    std::this_thread::sleep_for(100ms);
    pair.low->abandon();
  });
  const Clock::time_point begin = Clock::now();
  expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
               "rank 0 on host0");
  EXPECT_LT(Clock::now(), begin + 1s);
  death.join();
}

TEST_P(TcpTransports, NoticesWhileSendingThatAPeerHasDied) {
  Pair pair(of(2));
  pair.low->abandon();
  const std::vector<std::byte> data(1 << 20);
  const auto send_on = [&] {
    for (int i = 0; i < 100; ++i) send_all(*pair.high, Rank{0}, data);
  };
  expect_error(send_on, ErrorCode::peer_lost, "rank 0 on host0");
  expect_error(send_on, ErrorCode::peer_lost, "rank 0 on host0");
}

TEST_P(TcpTransports, TellsWhoSpeaksAnotherProtocol) {
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
    transport->begin(call, call);
    expect_error([&] { (void)receive_all(*transport, Rank{0}, 1000); }, ErrorCode::peer_lost,
                 "speaks another protocol");
    other.join();
  }
}

TEST_P(TcpTransports, LosesNothingWhenItGoes) {
  for (const bool is_sent_to : {false, true}) {
    Pair pair(of(2));
    const std::vector<std::byte> data = stream(0, 1, 12000000);
    const std::vector<std::byte> unwanted(100000);
    if (is_sent_to) send_all(*pair.high, Rank{0}, unwanted);
    const Rank peer{1};
    ASSERT_EQ(pair.low->send({&peer, 1}, data), data.size());
    std::thread goes([&] { pair.low.reset(); });
    // The other is slow.
    std::this_thread::sleep_for(100ms);
    const Rank gone{0};
    if (is_sent_to) {
      EXPECT_EQ(pair.high->send({&gone, 1}, unwanted), unwanted.size());
    }
    EXPECT_EQ(receive_all(*pair.high, Rank{0}, data.size()), data);
    goes.join();
    expect_error([&] { (void)receive_all(*pair.high, Rank{0}, 1); }, ErrorCode::peer_lost,
                 "rank 0 on host0");
  }
}

TEST_P(TcpTransports, DoesNotWaitForOneWhoGoesAsWell) {
  Pair pair(of(2));
  const std::vector<std::byte> data(12000000);
  const Rank zero{0};
  const Rank one{1};
  ASSERT_EQ(pair.low->send({&one, 1}, data), data.size());
  ASSERT_EQ(pair.high->send({&zero, 1}, data), data.size());
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

TEST_P(TcpTransports, SleepsWhileNothingComesThatItWants) {
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
  // Rank 1 is ahead, and rank 2 wants something from rank 0 first.
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

TEST_P(TcpTransports, CanBeSleptOnTogetherWithOtherThings) {
  Pair pair(of(2));
  const Clock::time_point deadline = Clock::now() + 10s;
  pollfd readable{.fd = pair.high->poll_fd(), .events = POLLIN, .revents = 0};
  EXPECT_TRUE(pair.high->arrived(Rank{0}).empty());
  // What is old may be news once.
  for (int i = 0; i < 3 && !pair.high->arm(deadline); ++i) {
  }
  EXPECT_TRUE(pair.high->arm(deadline));
  EXPECT_EQ(poll(&readable, 1, 20), 0);
  const std::vector<std::byte> data(100);
  send_all(*pair.low, Rank{1}, data);
  EXPECT_EQ(poll(&readable, 1, 1000), 1);
  EXPECT_FALSE(pair.high->arm(deadline));
  EXPECT_EQ(pair.high->arrived(Rank{0}).size(), 100U);
  // Room to write is news as well.
  const Rank zero{0};
  const std::vector<std::byte> much(20000000);
  ASSERT_EQ(pair.high->send({&zero, 1}, much), much.size());
  for (int i = 0; i < 3 && !pair.high->arm(deadline); ++i) {
  }
  EXPECT_EQ(poll(&readable, 1, 20), 0);
  std::thread reader([&] { (void)receive_all(*pair.low, Rank{1}, much.size()); });
  for (int i = 0; i < 100000 && pair.high->released(zero) < much.size(); ++i) {
    if (pair.high->arm(deadline)) {
      EXPECT_EQ(poll(&readable, 1, 1000), 1);
    }
  }
  EXPECT_EQ(pair.high->released(zero), much.size());
  reader.join();
}

}  // namespace
}  // namespace tutti::test
