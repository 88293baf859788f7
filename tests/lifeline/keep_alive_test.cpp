#include "lifeline/keep_alive.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <limits>

#include <gtest/gtest.h>

#include "net/socket.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// The socket options that the system has after set_keep_alive().
struct Options {
  int interval = 0;
  int user_timeout = 0;

  explicit Options(std::chrono::milliseconds lost_after) {
    const Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    set_keep_alive(socket.fd(), lost_after);
    interval = read(socket, TCP_KEEPIDLE);
    EXPECT_EQ(read(socket, TCP_KEEPINTVL), interval);
    EXPECT_EQ(read(socket, TCP_KEEPCNT), 3);
    user_timeout = read(socket, TCP_USER_TIMEOUT);
  }

  [[nodiscard]] static int read(const Socket& socket, int option) {
    int value = 0;
    socklen_t length = sizeof value;
    EXPECT_EQ(getsockopt(socket.fd(), IPPROTO_TCP, option, &value, &length), 0);
    return value;
  }
};

TEST(KeepAlive, SetsIntervalAndTimeout) {
  EXPECT_EQ(Options(10s).interval, 2);
  EXPECT_EQ(Options(10s).user_timeout, 10000);
  EXPECT_EQ(Options(500ms).interval, 1);
  EXPECT_EQ(Options(500ms).user_timeout, 500);
  EXPECT_EQ(Options(0ms).user_timeout, 1) << "zero would mean the system's default";
}

/// More than 2³² milliseconds would wrap around to a short time.
TEST(KeepAlive, ClampsToTheLimitsOfTheSystem) {
  for (const std::chrono::seconds lost_after : {2147484s, 4294968s, 1000000000s}) {
    EXPECT_EQ(Options(lost_after).interval, 32767);
    EXPECT_EQ(Options(lost_after).user_timeout, std::numeric_limits<int>::max());
  }
}

}  // namespace
}  // namespace tutti::test
