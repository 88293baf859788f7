#include "algorithms/allgather/allgather.hpp"
#include "algorithms/parallel_trees.hpp"

namespace tutti::allgather {

/// The blocks of all ranks go down rotated binomial trees, level by level. The distances are those
/// of Bruck's algorithm from the largest to the smallest: most of the data goes to near ranks.
/// Takes ⌈log₂ p⌉ rounds for every p (Loch and Koslovski, "Sparbit: a new logarithmic-cost and data
/// locality-aware MPI Allgather algorithm", 2021).
Program sparbit(const Problem& problem, Rank self) {
  return parallel_trees(problem.ranks, self, 1);
}

}  // namespace tutti::allgather
