#include "algorithms/swing.hpp"

#include "algorithms/allreduce/allreduce.hpp"

namespace tutti::allreduce {

/// Swing on a ring.
Program swing(const Problem& problem, Rank self) {
  return tutti::swing(Shape{{problem.ranks}}, self, problem.values[0]);
}

}  // namespace tutti::allreduce
