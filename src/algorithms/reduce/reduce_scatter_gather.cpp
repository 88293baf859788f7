#include <tutti/schedule/algebra.hpp>

#include "algorithms/gather/gather.hpp"
#include "algorithms/reduce/reduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce {

/// Each rank adds up one block, and the root gathers the blocks: the dual of
/// broadcast/scatter_allgather.
Program reduce_scatter_gather(const Problem& problem, Rank self) {
  return then(reduce_scatter::ring(problem, self), gather::binomial(problem, self));
}

}  // namespace tutti::reduce
