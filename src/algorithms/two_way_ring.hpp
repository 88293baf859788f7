#pragma once

#include <cstdint>

#include <tutti/schedule/algebra.hpp>

#include "algorithms/cyclic.hpp"

namespace tutti {

/// Runs the program of a ring algorithm, written for data that goes up the ring, in one of two
/// directions. `build(place)` returns the program of the rank at a place of a ring of `size` ranks
/// with one chunk per rank.
template <class Build>
[[nodiscard]] Program in_direction(bool upwards, std::uint32_t size, std::uint32_t place,
                                   Build build) {
  if (upwards) return build(place);
  const Rank mirrored{wrap(-std::int64_t{place}, size)};
  return embed(build(mirrored), RankMap{.stride = -1, .modulus = size},
               ChunkMap{.stride = -1, .modulus = size});
}

}  // namespace tutti
