#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// The bytes of a ring in the rounds of a tree (Rabenseifner), for every p: if a group is odd, its
/// halves differ by one rank, and one rank sends and receives more than the others in that round.
Program halving_doubling(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce_scatter::recursive_halving(whole, self),
              allgather::recursive_doubling(whole, self));
}

}  // namespace tutti::allreduce
