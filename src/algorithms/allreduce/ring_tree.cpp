#include <tutti/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {

/// A ring in each node and, for each rank of a node, a binomial tree across the nodes: the ring's
/// bytes where links are fast, the tree's few rounds where they are slow to answer.
Program ring_tree(const Problem& problem, Rank self) {
  const std::uint32_t in_node = problem.shape.dimensions[0];
  const std::uint32_t nodes = problem.shape.dimensions[1];
  const std::uint32_t p = problem.ranks;
  const std::uint32_t place = self.index() % in_node;
  const std::uint32_t node = self.index() / in_node;

  const RankMap along_node{.first = node * in_node, .stride = 1, .modulus = p};
  const RankMap across{.first = place, .stride = in_node, .modulus = p};
  const ChunkMap blocks{.modulus = in_node};
  const ChunkMap own_block{.first = place, .modulus = in_node};

  const Problem inside{.ranks = in_node};
  const Program scattered = embed(reduce_scatter::ring(inside, Rank{place}), along_node, blocks);
  const Program reduced =
      embed(allreduce::binomial({.ranks = nodes}, Rank{node}), across, own_block);
  const Program gathered = embed(allgather::ring(inside, Rank{place}), along_node, blocks);
  return then(then(scattered, reduced), gathered);
}

}  // namespace tutti::allreduce
