#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// The sums of each block reach its owner from both sides of the ring at once.
Program bidirectional_ring(const Problem& problem, Rank self) {
  return dual(allgather::bidirectional_ring(problem, self), Collective::allgather, self, Own::last);
}

}  // namespace tutti::reduce_scatter
