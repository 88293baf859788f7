#include "bench_loopback.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>

#include <tutti/error.hpp>

#include "transport/tcp/socket.hpp"

namespace tutti::cli {
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
    throw Error(ErrorCode::unsupported, "cannot connect to 127.0.0.1 to measure it");
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
      throw Error(ErrorCode::unsupported, "cannot connect to 127.0.0.1 to measure it");
    }
    await(one, POLLOUT);
    block(one);
    block(other);
  }
};

void send_for_a_while(const Socket& socket) {
  const std::vector<std::byte> data(piece);
  const Clock::time_point end = Clock::now() + each_figure;
  while (Clock::now() < end && ::send(socket.fd(), data.data(), data.size(), MSG_NOSIGNAL) > 0) {
  }
  ::shutdown(socket.fd(), SHUT_WR);
}

std::uint64_t receive_all(const Socket& socket) {
  std::vector<std::byte> data(piece);
  std::uint64_t total = 0;
  for (ssize_t got = 1; got > 0; total += static_cast<std::uint64_t>(std::max<ssize_t>(got, 0))) {
    got = ::recv(socket.fd(), data.data(), data.size(), 0);
  }
  return total;
}

double measure_rate(std::uint32_t connections) {
  std::vector<Connection> open(connections);
  std::vector<std::uint64_t> received(connections);
  std::vector<std::thread> threads;
  const Clock::time_point begin = Clock::now();
  for (std::uint32_t i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] { send_for_a_while(open[i].one); });
    threads.emplace_back([&, i] { received[i] = receive_all(open[i].other); });
  }
  for (std::thread& each : threads) each.join();
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  double sum = 0;
  for (const std::uint64_t each : received) sum += static_cast<double>(each);
  return sum / took;
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

BenchMachine::Loopback measure_loopback(std::uint32_t connections) {
  return {.rate = measure_rate(connections), .latency = measure_latency()};
}

}  // namespace tutti::cli
