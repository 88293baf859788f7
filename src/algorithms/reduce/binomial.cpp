#include <tutti/schedule/algebra.hpp>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::reduce {

/// In every round half of the ranks that still hold a sum send it to the other half.
Program binomial(const Problem& problem, Rank self) {
  return dual(broadcast::binomial(problem, self), Collective::broadcast, self);
}

}  // namespace tutti::reduce
