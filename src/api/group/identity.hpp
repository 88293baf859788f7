#pragma once

#include <cstdint>

namespace tutti {

/// The identity of a communicator that derives from another one: `occasion` is the number of the
/// call that creates it, `part` its colour. All ranks compute the same. The first numbers are
/// reserved for messages and for communicators that derive from none.
[[nodiscard]] inline std::uint64_t derived_identity(std::uint64_t parent, std::uint64_t occasion,
                                                    std::uint64_t part) {
  constexpr std::uint64_t reserved = 16;
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = parent;
  for (const std::uint64_t each : {occasion, part}) {
    // Small numbers must not cancel each other.
    hash = (hash ^ (each + odd)) * odd;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 29;
  }
  return hash < reserved ? hash + reserved : hash;
}

}  // namespace tutti
