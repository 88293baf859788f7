#pragma once

#include <cstdint>

#include <tutti/schedule/program.hpp>

namespace tutti {

/// An allgather in which the block of every rank goes down a binomial tree, the same for all ranks
/// but rotated: far ranks first, so that the rounds with the most data travel the least distance.
///
/// In the first rounds the trees are passed level by level, all at once, until a rank holds a block
/// out of every `span`. The subtrees below, of `span` ranks each, are then passed branch by branch,
/// and a message has one block for each subtree. `span` is a power of two. With span 1 all rounds
/// are of the first kind.
[[nodiscard]] Program parallel_trees(std::uint32_t ranks, Rank self, std::uint32_t span);

}  // namespace tutti
