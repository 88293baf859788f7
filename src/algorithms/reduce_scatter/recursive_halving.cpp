#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// The group halves every round: a rank sends the blocks of the other half to its partner there and
/// adds what it gets for its own half. Any p: halves may differ by one rank, and then one rank of
/// the smaller half adds two contributions in that round.
Program recursive_halving(const Problem& problem, Rank self) {
  return dual(allgather::recursive_doubling(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
