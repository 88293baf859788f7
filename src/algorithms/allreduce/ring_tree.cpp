#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/within_nodes.hpp"

namespace tutti::allreduce {

/// A ring in each node and, for each rank of a node, a binomial tree across the nodes: few bytes on
/// the fast links inside a node, few rounds on the high-latency links between nodes.
Program ring_tree(const Problem& problem, Rank self) {
  const Nodes at = nodes(problem, self);
  return within_nodes(problem, self, binomial({.ranks = at.nodes}, at.node), 1);
}

}  // namespace tutti::allreduce
