#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// All to all within each node, then Bruck's algorithm backwards across the nodes.
Program mesh_bruck(const Problem& problem, Rank self) {
  return dual(allgather::mesh_bruck(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
