#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

/// What lies between two ranks.
enum class Pairs : std::uint8_t {
  process,   ///< Both are threads of one process.
  host,      ///< Both are processes of one host that share memory.
  loopback,  ///< Both are on one host, but reach each other by its network.
  network,   ///< They are on several hosts.
};

/// How the ranks of a communicator reach each other.
struct Reach {
  Pairs pairs = Pairs::host;
  bool crowded = false;  ///< A host has more ranks than cores.

  friend bool operator==(const Reach&, const Reach&) = default;
};

/// "host"
[[nodiscard]] std::string_view name(Pairs pairs);
/// The inverse of name(). Throws invalid_argument that lists the names.
[[nodiscard]] Pairs parse_pairs(std::string_view text);
/// "host, more ranks than cores"
[[nodiscard]] std::string words(const Reach& reach);

[[nodiscard]] inline bool in_memory(const Reach& reach) {
  return reach.pairs == Pairs::process || reach.pairs == Pairs::host;
}

}  // namespace tutti
