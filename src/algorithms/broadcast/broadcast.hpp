#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// Builders of the broadcast algorithms for one rank. Each is described in the file of its name.
namespace tutti::broadcast {

[[nodiscard]] Program flat(const Problem& problem, Rank self);
[[nodiscard]] Program binomial(const Problem& problem, Rank self);
[[nodiscard]] Program binary_tree(const Problem& problem, Rank self);
[[nodiscard]] Program chain(const Problem& problem, Rank self);
[[nodiscard]] Program scatter_allgather(const Problem& problem, Rank self);
[[nodiscard]] Program double_tree(const Problem& problem, Rank self);
[[nodiscard]] Program knomial(const Problem& problem, Rank self);
[[nodiscard]] Program mesh_tree(const Problem& problem, Rank self);
[[nodiscard]] Program mesh_chain(const Problem& problem, Rank self);

}  // namespace tutti::broadcast
