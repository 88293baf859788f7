#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// Builders of the reduce_scatter algorithms for one rank. Each is described in the file of its
/// name.
namespace tutti::reduce_scatter {

[[nodiscard]] Program mesh(const Problem& problem, Rank self);
[[nodiscard]] Program ring(const Problem& problem, Rank self);
[[nodiscard]] Program bidirectional_ring(const Problem& problem, Rank self);
[[nodiscard]] Program recursive_halving(const Problem& problem, Rank self);
[[nodiscard]] Program bruck(const Problem& problem, Rank self);
[[nodiscard]] Program reduce_then_scatter(const Problem& problem, Rank self);
[[nodiscard]] Program recursive_multiplying(const Problem& problem, Rank self);
[[nodiscard]] Program pat(const Problem& problem, Rank self);
[[nodiscard]] Program mesh_ring(const Problem& problem, Rank self);
[[nodiscard]] Program mesh_bruck(const Problem& problem, Rank self);
[[nodiscard]] Program torus(const Problem& problem, Rank self);

}  // namespace tutti::reduce_scatter
