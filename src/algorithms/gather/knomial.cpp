#include <tutti/schedule/algebra.hpp>

#include "algorithms/gather/gather.hpp"
#include "algorithms/scatter/scatter.hpp"

namespace tutti::gather {

/// Blocks are joined, k ranges at a time, on their way to the root: the dual of scatter/knomial.
Program knomial(const Problem& problem, Rank self) {
  return dual(scatter::knomial(problem, self), Collective::scatter, self);
}

}  // namespace tutti::gather
