#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// Each rank adds up one block in one pass and sends it to all: two rounds, and no more bytes than
/// a ring.
Program mesh_two_shot(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce_scatter::mesh(whole, self), allgather::mesh(whole, self));
}

}  // namespace tutti::allreduce
