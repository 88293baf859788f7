#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// The ring in both directions at once: half the rounds, with two messages each.
Program bidirectional_ring(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce_scatter::bidirectional_ring(whole, self),
              allgather::bidirectional_ring(whole, self));
}

}  // namespace tutti::allreduce
