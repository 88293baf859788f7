#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// Rings along each dimension of a torus, in both directions: the dual of allgather/torus.
Program torus(const Problem& problem, Rank self) {
  return dual(allgather::torus(problem, self), Collective::allgather, self, Own::last);
}

}  // namespace tutti::reduce_scatter
