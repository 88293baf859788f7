#include <tutti/schedule/algebra.hpp>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::reduce {

/// From the far end to the root; each rank adds its own contribution on the way.
Program chain(const Problem& problem, Rank self) {
  return dual(broadcast::chain(problem, self), Collective::broadcast, self);
}

}  // namespace tutti::reduce
