#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/rank.hpp>

namespace tutti {

/// Consecutive ranks.
struct RankGroup {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// One level of recursive multiplying, as seen by one rank: its group of consecutive ranks is
/// divided into k parts, or into single ranks if it has fewer. The first parts may have one rank
/// more.
///
/// Each rank exchanges with the rank of the same index in every other part. The last rank of a
/// longer part has no such partner in the shorter parts: there another rank serves it too, a
/// different one for each longer part as far as there are enough. With k = 2 see Halves.
struct Division {
  std::vector<RankGroup> parts{};
  std::uint32_t own = 0;        ///< Number of the part that contains this rank.
  std::vector<Rank> sources{};  ///< The ranks that send to this rank, one in each other part.
  /// The ranks that this rank sends to, in the order of sending.
  std::vector<Rank> receivers{};
};

/// The level after `depth` divisions of the whole group; no value if the rank is alone by then.
[[nodiscard]] std::optional<Division> divided(std::uint32_t ranks, Rank self, std::uint32_t k,
                                              std::uint32_t depth);

/// The number of divisions until every rank is alone: ⌈log_k ranks⌉.
[[nodiscard]] std::uint32_t division_depth(std::uint32_t ranks, std::uint32_t k);

}  // namespace tutti
