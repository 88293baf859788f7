#pragma once

#include <string_view>

#include "net/socket.hpp"

namespace tutti::test {

/// A non-blocking stream with two ends.
struct Line {
  Line();

  Socket near{};
  Socket far{};
};

/// Sends what the system accepts and returns its size; 0 if the buffer is full or the other end is
/// closed.
[[nodiscard]] std::size_t put(const Socket& socket, std::string_view bytes);

}  // namespace tutti::test
