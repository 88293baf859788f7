#pragma once

#include <sys/socket.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "net/channel.hpp"

namespace tutti::test {

/// Two ends of a stream.
struct Line {
  Channel a;
  Channel b;

  Line() {
    std::array<int, 2> fds{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
    a = Channel(Socket(fds[0]));
    b = Channel(Socket(fds[1]));
  }
};

/// The bytes that have arrived at an end of a stream, as on the wire.
inline std::string take(const Channel& end, std::size_t most = 4096) {
  std::string bytes(most, '\0');
  const ssize_t got = recv(end.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

/// Sends raw bytes.
inline void give(const Channel& end, const std::string& bytes) {
  ASSERT_EQ(send(end.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace tutti::test
