#include <tutti/schedule/algebra.hpp>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::reduce {

/// Half of the data goes up each of two trees; every rank adds in at most one of them.
Program double_tree(const Problem& problem, Rank self) {
  return dual(broadcast::double_tree(problem, self), Collective::broadcast, self);
}

}  // namespace tutti::reduce
