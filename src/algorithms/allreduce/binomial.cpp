#include <tutti/schedule/algebra.hpp>

#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::allreduce {

/// Up and down a minimum spanning tree: the textbook tree for short messages.
Program binomial(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce::binomial(whole, self), broadcast::binomial(whole, self));
}

}  // namespace tutti::allreduce
