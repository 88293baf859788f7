#pragma once

#include <cstdint>

#include <tutti/schedule/program.hpp>
#include <tutti/shape.hpp>

namespace tutti {

/// An allreduce by Swing on a ring or torus (De Sensi et al., "Swing: short-cutting rings for
/// higher bandwidth allreduce", 2024). In step s of the reduce-scatter a rank exchanges with the
/// rank ρ(s) = 1 − 2 + 4 − … ± 2^s away, even ranks up and odd ranks down the ring: distances 1, 1,
/// 3, 5, 11, …, shorter than the 1, 2, 4, 8, 16, … of recursive halving. The allgather runs back.
/// On a torus the steps take the dimensions in turn. Along an odd dimension, which Swing does not
/// divide into pairs, the distances are those of Bruck's algorithm.
///
/// The data is divided into as many parts as there are dimensions times `ways`. Each part starts
/// with another dimension and, with two ways, with even ranks going up or down. It has one chunk
/// per rank.
[[nodiscard]] Program swing(const Shape& shape, Rank self, std::uint32_t ways);

}  // namespace tutti
