#pragma once

#include <algorithm>
#include <cstdint>

#include "cost/closed_form/terms.hpp"

/// Counts of recursive doubling and halving, where a group of s ranks is cut into ⌈s/2⌉ and ⌊s/2⌋.
/// If s is odd, the first rank of the upper half serves two ranks of the lower one.
namespace tutti::formula {

/// How many messages all ranks send together. In each group that is cut every rank receives one:
/// M(s) = s + M(⌈s/2⌉) + M(⌊s/2⌋) with M(1) = 0.
[[nodiscard]] constexpr std::uint64_t exchange_messages(std::uint64_t p) {
  return p * ceil_log(p) + p - std::bit_ceil(p);
}

/// How many blocks the first rank of a group of p sends in an allgather: all of its half, in each
/// group that it is in.
[[nodiscard]] constexpr std::uint64_t blocks_from_first(std::uint64_t p) {
  std::uint64_t blocks = 0;
  while (p > 1) blocks += p = (p + 1) / 2;
  return blocks;
}

/// How many blocks the busiest rank sends in an allgather. In an even group all ranks send the
/// same. In an odd one that is the rank that serves two and then is first in its half, or, in a
/// small group, the very first rank.
[[nodiscard]] constexpr std::uint64_t most_exchanged_blocks(std::uint64_t p) {
  std::uint64_t blocks = 0;
  for (; p % 2 == 0; p /= 2) blocks += p / 2;
  return blocks + std::max(p - 1 + blocks_from_first(p / 2), blocks_from_first(p));
}

/// How many messages the busiest rank sends: the same two ranks, with one message a group.
[[nodiscard]] constexpr std::uint64_t most_exchanged_messages(std::uint64_t p) {
  const auto even = static_cast<std::uint32_t>(std::countr_zero(p));
  const std::uint64_t odd = p >> even;
  if (odd == 1) return even;
  return even + std::max(2 + ceil_log(odd / 2), ceil_log(odd));
}

}  // namespace tutti::formula
