#include "net/socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"
#include "support/ipv6.hpp"

namespace tutti {
namespace {

Endpoint loopback() { return Endpoint::parse("127.0.0.1:0"); }

bool ready(const Socket& socket, short events) {
  pollfd entry{.fd = socket.fd(), .events = events, .revents = 0};
  return poll(&entry, 1, 2000) == 1 && (entry.revents & events) != 0;
}

int option(const Socket& socket, int level, int name) {
  int value = -1;
  socklen_t length = sizeof(value);
  getsockopt(socket.fd(), level, name, &value, &length);
  return value;
}

TEST(Endpoint, ParsesItsOwnText) {
  for (const std::string text :
       {"10.0.0.1:29500", "127.0.0.1:0", "[::1]:65535", "[2001:db8::7]:1", "[fe80::1%lo]:29500"}) {
    EXPECT_EQ(Endpoint::parse(text).text(), text);
  }
}

TEST(Endpoint, RejectsInvalidAddress) {
  for (const std::string text :
       {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:1x", "::1:80",
        "[::1]", "[]:80", "[10.0.0.1]:80", "localhost:80", "10.0.0:x:80"}) {
    test::expect_error([&] { (void)Endpoint::parse(text); }, ErrorCode::invalid_argument,
                       "'" + text + "' is not an address");
  }
  // getaddrinfo() would stop at the zero byte.
  EXPECT_THROW((void)Endpoint::parse(std::string_view("10.0.0.1\0.9:80", 13)), Error);
}

TEST(Endpoint, RecognisesLoopback) {
  EXPECT_TRUE(Endpoint::parse("127.3.2.1:5").is_loopback());
  EXPECT_TRUE(Endpoint::parse("[::1]:5").is_loopback());
  EXPECT_TRUE(Endpoint::parse("[::ffff:127.0.0.1]:5").is_loopback());
  EXPECT_FALSE(Endpoint::parse("[::ffff:10.0.0.1]:5").is_loopback());
  EXPECT_FALSE(Endpoint::parse("10.0.0.1:5").is_loopback());
  EXPECT_FALSE(Endpoint::parse("0.0.0.0:5").is_loopback());
  EXPECT_FALSE(Endpoint().is_loopback());
}

TEST(Endpoint, WithPortChangesOnlyThePort) {
  EXPECT_EQ(Endpoint::parse("10.0.0.1:1").with_port(2).text(), "10.0.0.1:2");
  EXPECT_EQ(Endpoint::parse("[::1]:1").with_port(443).text(), "[::1]:443");
}

TEST(Endpoint, ResolvesNames) {
  const auto found = Endpoint::resolve("localhost", 77);
  ASSERT_FALSE(found.empty());
  for (const Endpoint& each : found) {
    EXPECT_TRUE(each.is_loopback()) << each.text();
    EXPECT_EQ(each.port(), 77);
  }
  test::expect_error([] { (void)Endpoint::resolve("nobody.invalid", 77); },
                     ErrorCode::invalid_argument, "nobody.invalid");
}

TEST(PortRange, ParsesRanges) {
  EXPECT_EQ(PortRange::parse("40000-40100").first, 40000);
  EXPECT_EQ(PortRange::parse("40000-40100").last, 40100);
  EXPECT_EQ(PortRange::parse("40000").last, 40000);
  EXPECT_EQ(PortRange::parse("0").last, 0);
  for (const std::string text : {"", "-", "5-", "-5", "6-5", "1-70000", "a", "1-2-3", "0-9"}) {
    test::expect_error([&] { (void)PortRange::parse(text); }, ErrorCode::invalid_argument,
                       "'" + text + "' is not a range");
  }
}

class Listening : public testing::TestWithParam<std::string> {};

TEST_P(Listening, CarriesBytesBothWays) {
  if (GetParam()[0] == '[' && !test::has_ipv6()) GTEST_SKIP() << "this host has no IPv6";
  const Socket listener = listen_on(Endpoint::parse(GetParam()), {});
  const Endpoint at = bound_to(listener);
  EXPECT_NE(at.port(), 0);
  EXPECT_FALSE(accept_from(listener));
  EXPECT_EQ(errno, EAGAIN);
  const Socket dialer = begin_connect(at);
  ASSERT_TRUE(dialer);
  ASSERT_TRUE(ready(listener, POLLIN));
  const Socket accepted = accept_from(listener);
  ASSERT_TRUE(accepted);
  ASSERT_TRUE(ready(dialer, POLLOUT));
  ASSERT_EQ(send(dialer.fd(), "x", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(ready(accepted, POLLIN));
  for (const Socket* each : {&listener, &dialer, &accepted}) {
    EXPECT_NE(fcntl(each->fd(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(fcntl(each->fd(), F_GETFL) & O_NONBLOCK, 0);
  }
  EXPECT_NE(option(dialer, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_NE(option(accepted, IPPROTO_TCP, TCP_NODELAY), 0);
}

TEST(Listening, AcceptsAbstractUnixNames) {
  const Endpoint name = Endpoint::within_host("tutti test " + std::to_string(getpid()));
  EXPECT_TRUE(name.is_loopback());
  EXPECT_EQ(name.text(), "unix:@tutti test " + std::to_string(getpid()));
  {
    const Socket listener = listen_on(name, {});
    EXPECT_EQ(bound_to(listener).text(), name.text());
    test::expect_error([&] { (void)listen_on(name, {}); }, ErrorCode::invalid_argument,
                       "another program uses this name");
    const Socket dialer = begin_connect(name);
    ASSERT_TRUE(dialer);
    const Socket accepted = accept_from(listener);
    ASSERT_TRUE(accepted);
    EXPECT_TRUE(is_same_user(dialer));
    EXPECT_TRUE(is_same_user(accepted));
    EXPECT_EQ(connected_to(dialer).text(), name.text());
  }
  EXPECT_FALSE(begin_connect(name));
  EXPECT_EQ(errno, ECONNREFUSED);
  test::expect_error([] { (void)Endpoint::within_host(std::string(108, 'x')); },
                     ErrorCode::invalid_argument, "108");
}

INSTANTIATE_TEST_SUITE_P(Families, Listening, testing::Values("127.0.0.1:0", "[::1]:0"));

TEST(Listening, ErrorNamesThePortInUse) {
  const Socket first = listen_on(loopback(), {});
  const std::uint16_t port = bound_to(first).port();
  test::expect_error([&] { (void)listen_on(loopback().with_port(port), {}); },
                     ErrorCode::invalid_argument, "port " + std::to_string(port) + " is in use");
  test::expect_error([&] { (void)listen_on(loopback(), {.first = port, .last = port}); },
                     ErrorCode::invalid_argument, "TUTTI_PORT_RANGE");
}

TEST(Listening, UsesTheNextFreePortOfTheRange) {
  // Search for two adjacent free ports.
  for (int attempts = 0; attempts < 50; ++attempts) {
    const Socket first = listen_on(loopback(), {});
    const std::uint16_t port = bound_to(first).port();
    if (port == 65535) continue;
    const auto next = static_cast<std::uint16_t>(port + 1);
    try {
      const Socket second = listen_on(loopback(), {.first = port, .last = next});
      EXPECT_EQ(bound_to(second).port(), next);
      test::expect_error([&] { (void)listen_on(loopback(), {.first = port, .last = next}); },
                         ErrorCode::invalid_argument, "all ports " + std::to_string(port));
      return;
    } catch (const Error&) {
      continue;
    }
  }
  FAIL() << "no two adjacent ports were free";
}

TEST(Listening, RejectsAddressOfAnotherHost) {
  test::expect_error([] { (void)listen_on(Endpoint::parse("192.0.2.1:0"), {}); },
                     ErrorCode::invalid_argument, "192.0.2.1");
}

TEST(Listening, EverywhereAcceptsIpv4AndIpv6) {
  const Socket listener = listen_everywhere({});
  const std::uint16_t port = bound_to(listener).port();
  for (const std::string at : {"127.0.0.1:0", "[::1]:0"}) {
    if (at[0] == '[' && !test::has_ipv6()) continue;
    const Socket dialer = begin_connect(Endpoint::parse(at).with_port(port));
    ASSERT_TRUE(dialer);
    ASSERT_TRUE(ready(listener, POLLIN)) << at;
    EXPECT_TRUE(accept_from(listener));
  }
}

TEST(Connecting, FailsWithoutListener) {
  Endpoint at;
  {
    const Socket listener = listen_on(loopback(), {});
    at = bound_to(listener);
  }
  const Socket dialer = begin_connect(at);
  if (!dialer) {
    EXPECT_EQ(errno, ECONNREFUSED);
    return;
  }
  ASSERT_TRUE(ready(dialer, POLLOUT));
  EXPECT_EQ(option(dialer, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
}

TEST(Socket, DestructorClosesDescriptor) {
  Socket socket = listen_on(loopback(), {});
  const int fd = socket.fd();
  Socket other = std::move(socket);
  EXPECT_EQ(other.fd(), fd);
  EXPECT_NE(fcntl(fd, F_GETFD), -1);
  { const Socket last = std::move(other); }
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace tutti
