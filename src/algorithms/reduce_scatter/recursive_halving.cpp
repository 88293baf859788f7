#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// The group halves every round: a rank sends the blocks of the other half to its partner there and
/// adds the blocks that it receives for its own half. Works for any p: if the halves differ by one
/// rank, one rank of the smaller half adds two contributions in that round.
Program recursive_halving(const Problem& problem, Rank self) {
  return dual(allgather::recursive_doubling(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
