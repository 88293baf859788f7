#include <tutti/schedule/algebra.hpp>

#include "algorithms/gather/gather.hpp"
#include "algorithms/scatter/scatter.hpp"

namespace tutti::gather {

/// Every rank sends its block to the root, all in one round.
Program flat(const Problem& problem, Rank self) {
  return dual(scatter::flat(problem, self), Collective::scatter, self);
}

}  // namespace tutti::gather
