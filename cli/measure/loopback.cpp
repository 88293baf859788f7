#include "cli/measure/loopback.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>

#include <tutti/error.hpp>

#include "cli/measure/best_time.hpp"
#include "core/cores.hpp"
#include "net/socket.hpp"

namespace tutti::measure {
namespace {

using Clock = std::chrono::steady_clock;
using Cores = std::vector<cpu_set_t>;

constexpr std::chrono::milliseconds each_figure{15};
/// Short pieces stay in the cache, long ones need fewer system calls.
constexpr std::array<std::size_t, 4> piece_sizes = {std::size_t{16} << 10U, std::size_t{64} << 10U,
                                                    std::size_t{256} << 10U, std::size_t{1} << 20U};

[[noreturn]] void report_no_connection() {
  throw Error(
      ErrorCode::unsupported,
      "cannot connect to 127.0.0.1 to measure the loopback interface; measure without its limit");
}

void await(const Socket& socket, short event) {
  constexpr int patience_ms = 5000;
  pollfd fd{.fd = socket.fd(), .events = event, .revents = 0};
  if (::poll(&fd, 1, patience_ms) <= 0) report_no_connection();
}

/// As tutti's own connections: congestion control that paces its packets (BBR) is slow here.
void choose_cubic(const Socket& socket) {
  constexpr char name[] = "cubic";
  (void)setsockopt(socket.fd(), IPPROTO_TCP, TCP_CONGESTION, name, sizeof name - 1);
}

void block(const Socket& socket) {
  ::fcntl(socket.fd(), F_SETFL, ::fcntl(socket.fd(), F_GETFL) & ~O_NONBLOCK);
}

/// Both ends of a connection within this process, nonblocking.
struct Connection {
  Socket one{};
  Socket other{};

  Connection() {
    const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
    one = begin_connect(bound_to(listener));
    await(listener, POLLIN);
    other = accept_from(listener);
    if (!one || !other) report_no_connection();
    await(one, POLLOUT);
    choose_cubic(one);
    choose_cubic(other);
  }
};

/// Yields now and then while nothing moves: the other thread may have lost its core.
class Polling {
 public:
  void idle() {
    if (++spins_ % 256 == 0) std::this_thread::yield();
  }

 private:
  std::uint32_t spins_ = 0;
};

/// The bytes that a send or recv moved: 0 if it must be repeated, below 0 if the connection is
/// lost.
ssize_t moved(ssize_t result) {
  if (result > 0) return result;
  return result < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/// Sends all of `out` and receives as much, in whichever order the sockets permit. False if the
/// connection is lost.
bool exchange(const Socket& to, std::vector<std::byte>& out, const Socket& from,
              std::vector<std::byte>& in) {
  Polling polling;
  std::size_t sent = 0;
  std::size_t got = 0;
  while (sent < out.size() || got < in.size()) {
    ssize_t there = 0;
    ssize_t here = 0;
    if (sent < out.size()) {
      there = moved(::send(to.fd(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL));
      if (there < 0) return false;
      sent += static_cast<std::size_t>(there);
    }
    if (got < in.size()) {
      here = moved(::recv(from.fd(), in.data() + got, in.size() - got, 0));
      if (here < 0) return false;
      got += static_cast<std::size_t>(here);
    }
    if (there == 0 && here == 0) polling.idle();
  }
  return true;
}

/// Exchanges pieces for the time of a figure. The seconds of the best one.
double exchange_pieces(const Socket& to, const Socket& from, std::size_t piece) {
  std::vector<std::byte> out(piece);
  std::vector<std::byte> in(piece);
  const double best = best_time([&] { (void)exchange(to, out, from, in); }, each_figure);
  out.front() = std::byte{1};  // The last one.
  (void)exchange(to, out, from, in);
  return best;
}

/// Answers until the last piece.
void answer_pieces(const Socket& socket, std::size_t piece) {
  std::vector<std::byte> out(piece);
  std::vector<std::byte> in(piece);
  while (exchange(socket, out, socket, in) && in.front() == std::byte{0}) {
  }
}

/// Bytes per second of all threads, if each pair of them exchanges pieces.
double rate_in_pairs(std::uint32_t threads, const Cores& cores, std::size_t piece) {
  std::vector<Connection> open(threads / 2);
  std::vector<double> rates(open.size());
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < open.size(); ++i) {
    running.emplace_back([&, i] {
      stay_on(cores[2 * i]);
      rates[i] = 2 * static_cast<double>(piece) / exchange_pieces(open[i].one, open[i].one, piece);
    });
    running.emplace_back([&, i] {
      stay_on(cores[2 * i + 1]);
      answer_pieces(open[i].other, piece);
    });
  }
  for (std::thread& each : running) each.join();
  double sum = 0;
  for (const double each : rates) sum += each;
  // With an odd number one thread had no partner; it cannot add more than its share.
  return sum * threads / (2.0 * static_cast<double>(open.size()));
}

/// The same if each thread has both ends, as ranks that share a core have: data stays in its cache.
double rate_alone(std::uint32_t threads, const Cores& cores, std::size_t piece) {
  std::vector<Connection> open(threads);
  std::vector<double> rates(threads);
  std::vector<std::thread> running;
  for (std::uint32_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      stay_on(cores[t]);
      rates[t] = static_cast<double>(piece) / exchange_pieces(open[t].one, open[t].other, piece);
    });
  }
  for (std::thread& each : running) each.join();
  double sum = 0;
  for (const double each : rates) sum += each;
  return sum;
}

void send_for_a_while(const Socket& socket, std::size_t piece) {
  const std::vector<std::byte> data(piece);
  const Clock::time_point end = Clock::now() + each_figure;
  Polling polling;
  while (Clock::now() < end) {
    const ssize_t sent = moved(::send(socket.fd(), data.data(), data.size(), MSG_NOSIGNAL));
    if (sent < 0) break;
    if (sent == 0) polling.idle();
  }
  ::shutdown(socket.fd(), SHUT_WR);
}

std::uint64_t receive_all(const Socket& socket, std::size_t piece) {
  std::vector<std::byte> data(piece);
  std::uint64_t total = 0;
  Polling polling;
  for (;;) {
    const ssize_t got = moved(::recv(socket.fd(), data.data(), data.size(), 0));
    if (got < 0) return total;
    if (got == 0) polling.idle();
    total += static_cast<std::uint64_t>(got);
  }
}

/// The same if half of the threads only send and the other half only receive.
double rate_one_way(std::uint32_t threads, const Cores& cores, std::size_t piece) {
  std::vector<Connection> open(threads / 2);
  std::vector<std::uint64_t> received(open.size());
  std::vector<std::thread> running;
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < open.size(); ++i) {
    running.emplace_back([&, i] {
      stay_on(cores[2 * i]);
      send_for_a_while(open[i].one, piece);
    });
    running.emplace_back([&, i] {
      stay_on(cores[2 * i + 1]);
      received[i] = receive_all(open[i].other, piece);
    });
  }
  for (std::thread& each : running) each.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::uint64_t sum = 0;
  for (const std::uint64_t each : received) sum += each;
  return static_cast<double>(sum) / seconds * threads / (2.0 * static_cast<double>(open.size()));
}

/// Half of the best round trip of 8 bytes.
double latency_between(const cpu_set_t& one, const cpu_set_t& other, bool blocking) {
  const Connection connection;
  if (blocking) {
    block(connection.one);
    block(connection.other);
  }
  constexpr std::size_t bytes = 8;
  const auto receive = [](const Socket& socket, std::array<std::byte, bytes>& into) {
    Polling polling;
    for (;;) {
      const ssize_t got = moved(::recv(socket.fd(), into.data(), into.size(), MSG_WAITALL));
      if (got != 0) return got > 0;
      polling.idle();
    }
  };
  std::thread echo([&] {
    stay_on(other);
    std::array<std::byte, bytes> heard{};
    while (receive(connection.other, heard)) {
      ::send(connection.other.fd(), heard.data(), heard.size(), MSG_NOSIGNAL);
    }
  });
  double best = 0;
  std::thread caller([&] {
    stay_on(one);
    std::array<std::byte, bytes> message{};
    best = best_time(
        [&] {
          ::send(connection.one.fd(), message.data(), message.size(), MSG_NOSIGNAL);
          (void)receive(connection.one, message);
        },
        each_figure);
    ::shutdown(connection.one.fd(), SHUT_WR);
  });
  caller.join();
  echo.join();
  return best / 2;
}

}  // namespace

Machine::Loopback measure_loopback(std::uint32_t ranks, const Cores& cores) {
  const auto threads = std::min(ranks, static_cast<std::uint32_t>(cores.size()));
  Machine::Loopback found{.latency = std::numeric_limits<double>::infinity()};
  for (const std::size_t piece : piece_sizes) {
    if (threads > 1) {
      found.rate = std::max(
          {found.rate, rate_in_pairs(threads, cores, piece), rate_one_way(threads, cores, piece)});
    }
    if (ranks > threads || threads < 2) {
      found.rate = std::max(found.rate, rate_alone(threads, cores, piece));
    }
  }
  if (threads > 1) {
    for (const bool blocking : {false, true}) {
      found.latency = std::min(found.latency, latency_between(cores[0], cores[1], blocking));
    }
  }
  if (ranks > threads || threads < 2) {
    found.latency = std::min(found.latency, latency_between(cores[0], cores[0], true));
  }
  return found;
}

}  // namespace tutti::measure
