#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// Builders of the allreduce algorithms for one rank. Each is described in the file of its name.
namespace tutti::allreduce {

[[nodiscard]] Program mesh(const Problem& problem, Rank self);
[[nodiscard]] Program mesh_two_shot(const Problem& problem, Rank self);
[[nodiscard]] Program root(const Problem& problem, Rank self);
[[nodiscard]] Program binary_tree(const Problem& problem, Rank self);
[[nodiscard]] Program binomial(const Problem& problem, Rank self);
[[nodiscard]] Program ring_naive(const Problem& problem, Rank self);
[[nodiscard]] Program ring(const Problem& problem, Rank self);
[[nodiscard]] Program bidirectional_ring(const Problem& problem, Rank self);
[[nodiscard]] Program recursive_doubling(const Problem& problem, Rank self);
[[nodiscard]] Program halving_doubling(const Problem& problem, Rank self);
[[nodiscard]] Program bruck(const Problem& problem, Rank self);
[[nodiscard]] Program double_tree(const Problem& problem, Rank self);
[[nodiscard]] Program ring_ring(const Problem& problem, Rank self);
[[nodiscard]] Program ring_tree(const Problem& problem, Rank self);
[[nodiscard]] Program torus(const Problem& problem, Rank self);
[[nodiscard]] Program recursive_multiplying(const Problem& problem, Rank self);
[[nodiscard]] Program swing(const Problem& problem, Rank self);
[[nodiscard]] Program swing_torus(const Problem& problem, Rank self);

}  // namespace tutti::allreduce
