#pragma once

#include <cstdint>
#include <map>
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

/// What a rank that closes a communicator tells all members of the lifeline.
struct LeaveOfAll {
  std::uint64_t calls = 0;
  std::map<std::uint32_t, std::uint64_t> messages{};  ///< By member; none to the others.

  [[nodiscard]] Leave to(std::uint32_t member) const {
    const auto sent = messages.find(member);
    return {.calls = calls, .messages = sent == messages.end() ? 0 : sent->second};
  }
};

/// By communicator: all that a member has closed.
using Farewell = std::map<std::uint64_t, LeaveOfAll>;

[[nodiscard]] std::string write(const Farewell& farewell);
/// The inverse of write().
[[nodiscard]] Farewell read_farewell(const std::string& text);

}  // namespace tutti
