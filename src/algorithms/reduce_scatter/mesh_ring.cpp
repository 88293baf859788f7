#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// Each rank adds up the blocks of one place for its node while the sums of the other nodes arrive
/// round a ring: the dual of allgather/mesh_ring.
Program mesh_ring(const Problem& problem, Rank self) {
  return dual(allgather::mesh_ring(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
