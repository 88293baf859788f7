#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

/// In groups of at most this many members every member watches every other.
inline constexpr std::uint32_t most_fully_connected = 16;

/// The members to which `self` is connected from the start, sorted. They notice its end, and it
/// notices theirs.
///
/// In larger groups these are the members at distance 1, 2, 4, … in both directions of the ring: a
/// circulant graph of degree below 2 log₂ p + 1 and diameter below log₂ p. It stays connected
/// until all neighbours of some member are lost.
[[nodiscard]] std::vector<std::uint32_t> neighbours_of(
    std::uint32_t self, std::uint32_t members,
    std::uint32_t fully_connected = most_fully_connected);

}  // namespace tutti
