#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti::broadcast {

/// A broadcast in the shape G x N in three phases: the root sends a piece to each rank of its node,
/// `across` broadcasts each piece from there among the ranks with the same index in their nodes,
/// and within each node all pieces are exchanged. The root is sent nothing.
[[nodiscard]] Program in_nodes(const Problem& problem, Rank self,
                               Program (*across)(const Problem& problem, Rank self));

}  // namespace tutti::broadcast
