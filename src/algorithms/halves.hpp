#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/rank.hpp>

namespace tutti {

/// One level of the recursion that doubling and halving share, as seen by one rank: its group of
/// consecutive ranks is divided in two. If the group is odd, the lower half has one rank more.
///
/// Each rank has a partner in the other half. If the group is odd, the last rank of the lower half
/// has none: the first rank of the upper half serves it too. That rank is in lower halves at all
/// deeper levels, so each rank serves two partners at most once, and the method needs ⌈log₂ p⌉
/// rounds for every p.
struct Halves {
  std::uint32_t own_first = 0;  ///< First rank of the half that contains this rank.
  std::uint32_t own_count = 0;  ///< Number of ranks in that half.
  std::uint32_t other_first = 0;
  std::uint32_t other_count = 0;
  Rank source{};                ///< The rank in the other half that sends to this rank.
  std::vector<Rank> receivers;  ///< The ranks in the other half that this rank sends to: 0, 1 or 2.
};

/// The level after `depth` divisions of the whole group; no value if the rank is alone by then.
[[nodiscard]] std::optional<Halves> halves(std::uint32_t ranks, Rank self, std::uint32_t depth);

}  // namespace tutti
