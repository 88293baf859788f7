#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// Recursive halving with k in place of 2: in every round a rank keeps one of k parts of its blocks
/// and adds what k−1 others send for it.
Program recursive_multiplying(const Problem& problem, Rank self) {
  return dual(allgather::recursive_multiplying(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
