#pragma once

#include <algorithm>
#include <cstdint>

#include "cost/closed_form/terms.hpp"

/// Counts for recursive doubling and halving, where a group of s ranks is divided into ⌈s/2⌉ and
/// ⌊s/2⌋. If s is odd, the first rank of the upper half serves two ranks of the lower half.
namespace tutti::formula {

/// The number of messages of all ranks together. In each division of a group every rank receives
/// one: M(s) = s + M(⌈s/2⌉) + M(⌊s/2⌋) with M(1) = 0.
[[nodiscard]] constexpr std::uint64_t exchange_messages(std::uint64_t p) {
  return p * ceil_log(p) + p - std::bit_ceil(p);
}

/// The number of blocks that the first rank of a group of p sends in an allgather: all blocks of
/// its half, in each group that it belongs to.
[[nodiscard]] constexpr std::uint64_t blocks_from_first(std::uint64_t p) {
  std::uint64_t blocks = 0;
  while (p > 1) blocks += p = (p + 1) / 2;
  return blocks;
}

/// The number of blocks that the busiest rank sends in an allgather. In an even group all ranks
/// send the same number. In an odd group the busiest is the rank that serves two and is then first
/// in its half or, in a small group, rank 0.
[[nodiscard]] constexpr std::uint64_t most_exchanged_blocks(std::uint64_t p) {
  std::uint64_t blocks = 0;
  for (; p % 2 == 0; p /= 2) blocks += p / 2;
  return blocks + std::max(p - 1 + blocks_from_first(p / 2), blocks_from_first(p));
}

/// The number of messages of the busiest rank: one of the same two ranks, with one message per
/// group.
[[nodiscard]] constexpr std::uint64_t most_exchanged_messages(std::uint64_t p) {
  const auto even = static_cast<std::uint32_t>(std::countr_zero(p));
  const std::uint64_t odd = p >> even;
  if (odd == 1) return even;
  return even + std::max(2 + ceil_log(odd / 2), ceil_log(odd));
}

}  // namespace tutti::formula
