#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/port_streams.hpp"
#include "support/random.hpp"
#include "support/tcp_ranks.hpp"
#include "transport/tcp/tcp_transport.hpp"

/// Ranks in threads of the test, and their exchanges over TCP.
namespace tutti::test {

using namespace std::chrono_literals;

inline std::byte pattern(std::uint32_t from, std::uint32_t to, std::uint64_t at) {
  return static_cast<std::byte>(from * 31 + to * 17 + at + (at >> 8) * 7 + (at >> 16) * 3);
}

inline std::vector<std::byte> stream(std::uint32_t from, std::uint32_t to, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(from, to, i);
  return data;
}

/// Repeats `step` until it returns done, and waits after a step without progress.
enum class Progress { none, some, done };
inline void drive(TcpEnd& transport, const std::function<Progress()>& step,
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

inline void send_all(TcpEnd& transport, Rank peer, std::span<const std::byte> data) {
  drive(transport, [&] {
    if (!data.empty()) {
      const std::size_t taken = send(transport, peer, data);
      data = data.subspan(taken);
      return taken > 0 ? Progress::some : Progress::none;
    }
    return is_released(transport, peer) ? Progress::done : Progress::none;
  });
}

inline std::vector<std::byte> receive_all(TcpEnd& transport, Rank peer, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  std::size_t at = 0;
  drive(transport, [&] {
    const std::size_t moved =
        at == bytes ? 0 : receive(transport, peer, std::span(data).subspan(at));
    at += moved;
    return at == bytes ? Progress::done : moved > 0 ? Progress::some : Progress::none;
  });
  return data;
}

/// Runs work(rank) for all ranks at once, in threads. Rethrows the first failure.
inline void together(std::uint32_t ranks, const std::function<void(std::uint32_t)>& work) {
  std::vector<std::future<void>> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(std::async(std::launch::async, work, r));
  for (auto& each : all) each.get();
}

/// Sends to and receives from all peers at once, in random pieces. Some are read in place, some are
/// moved.
inline void exchange_with_all(TcpEnd& transport, std::uint32_t self, std::uint32_t ranks,
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
            send(transport, peer, std::span(with.out).subspan(with.sent, with.piece));
        with.sent += taken;
        with.piece -= taken;
        moved |= taken > 0;
      }
      if (with.received < bytes) {
        const std::span<std::byte> to = std::span(with.in).subspan(with.received);
        std::size_t got = 0;
        if (random.one_in(2)) {
          got = receive(transport, peer, to.first(1 + random.below(to.size())));
        } else {
          const std::span<const std::byte> here = arrived(transport, peer);
          if (!here.empty()) {
            got = std::min(to.size(), 1 + random.below(here.size()));
            std::memcpy(to.data(), here.data(), got);
            consume(transport, peer, got);
          }
        }
        with.received += got;
        moved |= got > 0;
      }
      done &= with.sent == bytes && with.received == bytes && is_released(transport, peer);
    }
    return done ? Progress::done : moved ? Progress::some : Progress::none;
  });
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (r != self) {
      EXPECT_EQ(all[r].in, stream(r, self, bytes)) << r << " to " << self;
    }
  }
}

/// Two connected transports.
struct Pair {
  explicit Pair(TcpRanks ranks) : low(ranks.transport(0)), high(ranks.transport(1)) {
    const std::byte hello{42};
    together(2, [&](std::uint32_t r) {
      if (r == 0) send_all(*low, Rank{1}, {&hello, 1});
      if (r == 1) (void)receive_all(*high, Rank{0}, 1);
    });
  }
  std::unique_ptr<TcpEnd> low;
  std::unique_ptr<TcpEnd> high;
};

inline void set_buffers(const Socket& listener, int bytes) {
  // Accepted sockets inherit them.
  setsockopt(listener.fd(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(listener.fd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/// Every test runs twice: with plain and with encrypted connections.
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

}  // namespace tutti::test
