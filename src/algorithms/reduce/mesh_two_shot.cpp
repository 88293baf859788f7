#include <tutti/schedule/algebra.hpp>

#include "algorithms/gather/gather.hpp"
#include "algorithms/reduce/reduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce {

/// Each rank adds up one block in one pass and sends it to the root: two rounds, and the additions
/// are shared.
Program mesh_two_shot(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  return then(reduce_scatter::mesh(whole, self), gather::flat(problem, self));
}

}  // namespace tutti::reduce
