#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// The part of one rank in each broadcast algorithm: see the file of the same name.
namespace tutti::broadcast {

[[nodiscard]] Program flat(const Problem& problem, Rank self);
[[nodiscard]] Program binomial(const Problem& problem, Rank self);
[[nodiscard]] Program binary_tree(const Problem& problem, Rank self);
[[nodiscard]] Program chain(const Problem& problem, Rank self);
[[nodiscard]] Program scatter_allgather(const Problem& problem, Rank self);
[[nodiscard]] Program double_tree(const Problem& problem, Rank self);

}  // namespace tutti::broadcast
