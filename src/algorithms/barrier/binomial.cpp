#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/barrier/barrier.hpp"

namespace tutti::barrier {

/// Rank 0 hears from all ranks and notifies all: an allreduce without data up and down a tree.
Program binomial(const Problem& problem, Rank self) { return allreduce::binomial(problem, self); }

}  // namespace tutti::barrier
