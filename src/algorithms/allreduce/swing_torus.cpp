#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/swing.hpp"

namespace tutti::allreduce {

/// Swing on a torus.
Program swing_torus(const Problem& problem, Rank self) {
  return tutti::swing(problem.shape, self, problem.values[0]);
}

}  // namespace tutti::allreduce
