#include <tutti/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// A ring in each node and, for each rank of a node, a ring across the nodes: in G x N, ranks 0 …
/// G−1 share the first of N nodes. Only 1/G of the data of each rank crosses between nodes.
Program ring_ring(const Problem& problem, Rank self) {
  const std::uint32_t in_node = problem.shape.dimensions[0];
  const std::uint32_t nodes = problem.shape.dimensions[1];
  const std::uint32_t p = problem.ranks;
  const std::uint32_t place = self.index() % in_node;
  const std::uint32_t node = self.index() / in_node;

  // Block g of the node's rings is chunks g·N … g·N + N−1, one for each node.
  const RankMap along_node{.first = node * in_node, .stride = 1, .modulus = p};
  const ChunkMap wide{.first = 0, .stride = nodes, .modulus = p, .width = nodes};
  const RankMap across{.first = place, .stride = in_node, .modulus = p};
  const ChunkMap narrow{.first = std::uint64_t{place} * nodes, .stride = 1, .modulus = p};

  const Problem inside{.ranks = in_node};
  const Program scattered = embed(reduce_scatter::ring(inside, Rank{place}), along_node, wide);
  const Program reduced = embed(allreduce::ring({.ranks = nodes}, Rank{node}), across, narrow);
  const Program gathered = embed(allgather::ring(inside, Rank{place}), along_node, wide);
  return then(then(scattered, reduced), gathered);
}

}  // namespace tutti::allreduce
