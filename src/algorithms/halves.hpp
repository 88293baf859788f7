#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/rank.hpp>

namespace tutti {

/// One level of the recursion that doubling and halving share, as one rank sees it: its group of
/// neighbours is cut in two, the lower half the longer by one if the group is odd.
///
/// Each rank has a partner in the other half. If the group is odd, the last rank of the lower half
/// has none: the first rank of the upper half serves it too. That rank is in lower halves ever
/// after, so nobody serves twice, and the method needs ⌈log₂ p⌉ rounds for every p.
struct Halves {
  std::uint32_t own_first = 0;  ///< The half that the rank is in: first rank
  std::uint32_t own_count = 0;  ///< and number of ranks.
  std::uint32_t other_first = 0;
  std::uint32_t other_count = 0;
  Rank source{};                ///< Who in the other half sends to this rank.
  std::vector<Rank> receivers;  ///< Whom in the other half this rank sends to: 0, 1 or 2.
};

/// The level `depth` cuts below the whole group of `ranks`; none if the rank is alone by then.
[[nodiscard]] std::optional<Halves> halves(std::uint32_t ranks, Rank self, std::uint32_t depth);

}  // namespace tutti
