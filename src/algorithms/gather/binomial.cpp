#include <tutti/schedule/algebra.hpp>

#include "algorithms/gather/gather.hpp"
#include "algorithms/scatter/scatter.hpp"

namespace tutti::gather {

/// Blocks are joined pairwise on their way to the root: the dual of scatter/binomial.
Program binomial(const Problem& problem, Rank self) {
  return dual(scatter::binomial(problem, self), Collective::scatter, self);
}

}  // namespace tutti::gather
