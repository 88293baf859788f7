#include "fuzz/line.hpp"

#include <sys/socket.h>

#include <array>

#include "fuzz/finding.hpp"

namespace tutti::test {

Line::Line() {
  std::array<int, 2> fds{-1, -1};
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()) == 0,
          "socketpair() failed");
  near = Socket(fds[0]);
  far = Socket(fds[1]);
}

std::size_t put(const Socket& socket, std::string_view bytes) {
  const ssize_t sent = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

}  // namespace tutti::test
