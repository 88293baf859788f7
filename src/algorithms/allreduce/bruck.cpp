#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// The dual of Bruck's allgather, then the allgather: 2⌈log₂ p⌉ rounds and the fewest bytes, for
/// every p.
Program bruck(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce_scatter::bruck(whole, self), allgather::bruck(whole, self));
}

}  // namespace tutti::allreduce
