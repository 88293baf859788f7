#pragma once

#include <cstdint>
#include <string>

namespace tutti {

/// What a rank that closes a communicator tells another rank: how much it has given.
struct Leave {
  std::uint64_t calls = 0;     ///< It has taken part in so many calls,
  std::uint64_t messages = 0;  ///< and has sent so many messages to that rank.
};

[[nodiscard]] std::string write(const Leave& leave);
/// The inverse of write().
[[nodiscard]] Leave read_leave(const std::string& text);

}  // namespace tutti
