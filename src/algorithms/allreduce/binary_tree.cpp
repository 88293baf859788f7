#include <tutti/schedule/algebra.hpp>

#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::allreduce {

/// Up and down a complete binary tree.
Program binary_tree(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce::binary_tree(whole, self), broadcast::binary_tree(whole, self));
}

}  // namespace tutti::allreduce
