#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// Twice round the ring, one block at a time. Each rank sends the fewest bytes possible (Patarasuk
/// and Yuan, "Bandwidth optimal all-reduce algorithms", 2009).
Program ring(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce_scatter::ring(whole, self), allgather::ring(whole, self));
}

}  // namespace tutti::allreduce
