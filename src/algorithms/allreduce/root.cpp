#include <tutti/schedule/algebra.hpp>

#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::allreduce {

/// Every rank sends everything to rank 0, which adds it up and sends the sum to every rank.
Program root(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce::flat(whole, self), broadcast::flat(whole, self));
}

}  // namespace tutti::allreduce
