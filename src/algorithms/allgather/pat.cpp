#include <bit>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/parallel_trees.hpp"

namespace tutti::allgather {

/// Parallel aggregated trees: like sparbit, but no message has more than `blocks` blocks. Once a
/// rank holds that many, the rest of the trees is passed branch by branch: ⌈log₂ b⌉ + ⌈p/b⌉ − 1
/// rounds if b and p are powers of two (Jeaugey, "PAT: a new algorithm for all-gather and
/// reduce-scatter operations at scale", 2025).
Program pat(const Problem& problem, Rank self) {
  const std::uint32_t blocks = problem.values[0];
  return parallel_trees(problem.ranks, self, std::bit_ceil((problem.ranks + blocks - 1) / blocks));
}

}  // namespace tutti::allgather
