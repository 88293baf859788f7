#pragma once

#include <string_view>

#include "net/socket.hpp"

namespace tutti::test {

/// Two ends of a stream. Neither blocks.
struct Line {
  Line();

  Socket near{};
  Socket far{};
};

/// How many bytes the system takes; none if it has no room, or the other end has gone.
[[nodiscard]] std::size_t put(const Socket& socket, std::string_view bytes);

}  // namespace tutti::test
