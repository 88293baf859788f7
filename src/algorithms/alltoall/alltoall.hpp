#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// The part of one rank in each alltoall algorithm: see the file of the same name.
namespace tutti::alltoall {

[[nodiscard]] Program mesh(const Problem& problem, Rank self);
[[nodiscard]] Program pairwise(const Problem& problem, Rank self);
[[nodiscard]] Program bruck(const Problem& problem, Rank self);

}  // namespace tutti::alltoall
