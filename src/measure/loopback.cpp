#include "measure/loopback.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include <tutti/error.hpp>

#include "net/socket.hpp"

namespace tutti::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds each_figure{60};
constexpr std::size_t piece = std::size_t{256} << 10U;

void block(const Socket& socket) {
  ::fcntl(socket.fd(), F_SETFL, ::fcntl(socket.fd(), F_GETFL) & ~O_NONBLOCK);
}

void await(const Socket& socket, short event) {
  constexpr int patience_ms = 5000;
  pollfd fd{.fd = socket.fd(), .events = event, .revents = 0};
  if (::poll(&fd, 1, patience_ms) <= 0) {
    throw Error(
        ErrorCode::unsupported,
        "cannot connect to 127.0.0.1 to measure the loopback interface; measure without its limit");
  }
}

/// Both ends of a connection within this process.
struct Connection {
  Socket one{};
  Socket other{};

  Connection() {
    const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
    one = begin_connect(bound_to(listener));
    await(listener, POLLIN);
    other = accept_from(listener);
    if (!one || !other) {
      throw Error(ErrorCode::unsupported,
                  "cannot connect to 127.0.0.1 to measure the loopback interface; measure without "
                  "its limit");
    }
    await(one, POLLOUT);
    block(one);
    block(other);
  }
};

void send_until_time_is_up(const Socket& socket) {
  const std::vector<std::byte> data(piece);
  const Clock::time_point end = Clock::now() + each_figure;
  while (Clock::now() < end && ::send(socket.fd(), data.data(), data.size(), MSG_NOSIGNAL) > 0) {
  }
  ::shutdown(socket.fd(), SHUT_WR);
}

void receive_all(const Socket& socket, std::atomic<std::uint64_t>& total) {
  std::vector<std::byte> data(piece);
  for (;;) {
    const ssize_t got = ::recv(socket.fd(), data.data(), data.size(), 0);
    if (got <= 0) return;
    total.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
  }
}

/// The best rate of several short intervals.
double best_rate(const std::atomic<std::uint64_t>& total) {
  constexpr std::chrono::milliseconds interval{5};
  double best = 0;
  const Clock::time_point end = Clock::now() + each_figure;
  Clock::time_point then = Clock::now();
  for (std::uint64_t before = total; then < end;) {
    std::this_thread::sleep_for(interval);
    const Clock::time_point now = Clock::now();
    const std::uint64_t after = total;
    best = std::max(best, static_cast<double>(after - before) /
                              std::chrono::duration<double>(now - then).count());
    before = after;
    then = now;
  }
  return best;
}

double measure_rate(std::uint32_t connections) {
  std::vector<Connection> open(connections);
  std::atomic<std::uint64_t> received{0};
  std::vector<std::thread> threads;
  for (const Connection& each : open) {
    threads.emplace_back([&] { send_until_time_is_up(each.one); });
    threads.emplace_back([&] { receive_all(each.other, received); });
  }
  const double rate = best_rate(received);
  for (std::thread& each : threads) each.join();
  return rate;
}

double measure_latency() {
  const Connection connection;
  std::array<std::byte, 8> message{};
  std::thread echo([&] {
    std::array<std::byte, 8> heard{};
    while (::recv(connection.other.fd(), heard.data(), heard.size(), MSG_WAITALL) > 0) {
      ::send(connection.other.fd(), heard.data(), heard.size(), MSG_NOSIGNAL);
    }
  });
  double best = std::numeric_limits<double>::infinity();
  const Clock::time_point end = Clock::now() + each_figure;
  while (Clock::now() < end) {
    const Clock::time_point begin = Clock::now();
    ::send(connection.one.fd(), message.data(), message.size(), MSG_NOSIGNAL);
    if (::recv(connection.one.fd(), message.data(), message.size(), MSG_WAITALL) <= 0) break;
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  ::shutdown(connection.one.fd(), SHUT_WR);
  echo.join();
  return best / 2;
}

}  // namespace

Machine::Loopback measure_loopback(std::uint32_t connections) {
  return {.rate = measure_rate(connections), .latency = measure_latency()};
}

}  // namespace tutti::measure
