#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

/// How two ranks are connected.
enum class Pairs : std::uint8_t {
  process,   ///< Threads of one process.
  host,      ///< Processes of one host that share memory.
  loopback,  ///< Processes of one host that use its network stack.
  network,   ///< Processes of different hosts.
};

/// How the ranks of a communicator reach each other.
struct Reach {
  Pairs pairs = Pairs::host;
  bool crowded = false;  ///< True if a host has more ranks than cores.

  friend bool operator==(const Reach&, const Reach&) = default;
};

/// "host"
[[nodiscard]] std::string_view name(Pairs pairs);
/// The inverse of name(). Throws invalid_argument that lists the names.
[[nodiscard]] Pairs parse_pairs(std::string_view text);
/// "host, more ranks than cores"
[[nodiscard]] std::string words(const Reach& reach);

[[nodiscard]] constexpr bool in_memory(const Reach& reach) {
  return reach.pairs == Pairs::process || reach.pairs == Pairs::host;
}

}  // namespace tutti
