#include "lifeline/keep_alive.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tutti {
namespace {

/// The kernel rejects more (MAX_TCP_KEEPIDLE, MAX_TCP_KEEPINTVL).
constexpr std::int64_t longest_interval = 32767;

void set_option(int fd, int level, int option, std::int64_t value) {
  const int number = static_cast<int>(value);
  (void)setsockopt(fd, level, option, &number, sizeof number);
}

}  // namespace

void set_keep_alive(int fd, std::chrono::milliseconds lost_after) {
  const std::int64_t milliseconds =
      std::clamp<std::int64_t>(lost_after.count(), 1, std::numeric_limits<int>::max());
  // The kernel waits for one interval and then sends three probes.
  const std::int64_t interval =
      std::clamp<std::int64_t>(lost_after.count() / 1000 / 4, 1, longest_interval);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, interval);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, milliseconds);
}

}  // namespace tutti
