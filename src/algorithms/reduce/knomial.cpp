#include <tutti/schedule/algebra.hpp>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::reduce {

/// Up a k-nomial tree: a rank adds the sums of k−1 others to its own in one pass.
Program knomial(const Problem& problem, Rank self) {
  return dual(broadcast::knomial(problem, self), Collective::broadcast, self);
}

}  // namespace tutti::reduce
