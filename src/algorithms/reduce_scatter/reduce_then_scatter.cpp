#include "algorithms/reduce/reduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"
#include "algorithms/scatter/scatter.hpp"
#include "algorithms/turn.hpp"

namespace tutti::reduce_scatter {

/// Rank 0 computes the whole sum and scatters it, both along binomial trees.
Program reduce_then_scatter(const Problem& problem, Rank self) {
  const Problem at_zero{.ranks = problem.ranks};
  return then(widen(reduce::binomial(at_zero, self), at_zero, problem.ranks),
              scatter::binomial(at_zero, self));
}

}  // namespace tutti::reduce_scatter
