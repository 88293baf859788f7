#include <tutti/schedule/algebra.hpp>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::reduce {

/// Every rank sends everything to the root, which adds it up in one pass.
Program flat(const Problem& problem, Rank self) {
  return dual(broadcast::flat(problem, self), Collective::broadcast, self);
}

}  // namespace tutti::reduce
