#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/within_nodes.hpp"

namespace tutti::allreduce {

/// A ring in each node and, for each rank of a node, a ring across the nodes. In shape G x N, ranks
/// 0 … G−1 share the first of N nodes. Only 1/G of the data of each rank crosses between nodes.
Program ring_ring(const Problem& problem, Rank self) {
  const Nodes at = nodes(problem, self);
  return within_nodes(problem, self, ring({.ranks = at.nodes}, at.node), at.nodes);
}

}  // namespace tutti::allreduce
