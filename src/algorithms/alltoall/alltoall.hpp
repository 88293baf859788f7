#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// Builders of the alltoall algorithms for one rank. Each is described in the file of its name.
namespace tutti::alltoall {

[[nodiscard]] Program mesh(const Problem& problem, Rank self);
[[nodiscard]] Program pairwise(const Problem& problem, Rank self);
[[nodiscard]] Program bruck(const Problem& problem, Rank self);
[[nodiscard]] Program mesh_pairwise(const Problem& problem, Rank self);

}  // namespace tutti::alltoall
