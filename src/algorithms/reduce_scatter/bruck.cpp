#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// The dual of Bruck's allgather: ⌈log₂ p⌉ rounds and the fewest bytes possible, for every p
/// (Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2023).
Program bruck(const Problem& problem, Rank self) {
  return dual(allgather::bruck(problem, self), Collective::allgather, self);
}

}  // namespace tutti::reduce_scatter
