#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// Every rank sends each block to the rank that owns it, which adds all of them in one pass.
Program mesh(const Problem& problem, Rank self) {
  return dual(allgather::mesh(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
