#include <tutti/schedule/algebra.hpp>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::reduce {

/// Up a complete binary tree, one level per round: a rank adds its children's sums to its own.
Program binary_tree(const Problem& problem, Rank self) {
  return dual(broadcast::binary_tree(problem, self), Collective::broadcast, self);
}

}  // namespace tutti::reduce
