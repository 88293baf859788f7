#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/within_nodes.hpp"

namespace tutti::allreduce {

/// A ring in each node and, for each rank of a node, a binomial tree across the nodes: the ring's
/// bytes where links are fast, the tree's few rounds where they are slow to answer.
Program ring_tree(const Problem& problem, Rank self) {
  const Nodes at = nodes(problem, self);
  return within_nodes(problem, self, binomial({.ranks = at.nodes}, Rank{at.node}), 1);
}

}  // namespace tutti::allreduce
