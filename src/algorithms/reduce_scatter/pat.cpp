#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// Parallel aggregated trees, upwards: sums go up rotated binomial trees, the near ranks first, and
/// no message has more than `blocks` blocks.
Program pat(const Problem& problem, Rank self) {
  return dual(allgather::pat(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
