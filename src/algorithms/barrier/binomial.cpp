#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/barrier/barrier.hpp"

namespace tutti::barrier {

/// Rank 0 hears from everybody and tells everybody: an allreduce of nothing up and down a tree.
Program binomial(const Problem& problem, Rank self) { return allreduce::binomial(problem, self); }

}  // namespace tutti::barrier
