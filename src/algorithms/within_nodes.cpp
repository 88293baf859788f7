#include "algorithms/within_nodes.hpp"

#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti {

Nodes nodes(const Problem& problem, Rank self) {
  const std::uint32_t in_node = problem.shape.dimensions[0];
  return {.in_node = in_node,
          .nodes = problem.shape.dimensions[1],
          .place = self % in_node,
          .node = self / in_node};
}

Program within_nodes(const Problem& problem, Rank self, const Program& across,
                     std::uint32_t pieces) {
  const Nodes at = nodes(problem, self);
  const std::uint64_t chunks = std::uint64_t{at.in_node} * pieces;
  const RankMap along_node{.first = at.node * at.in_node, .stride = 1, .modulus = problem.ranks};
  const RankMap same_place{.first = at.place, .stride = at.in_node, .modulus = problem.ranks};
  const ChunkMap blocks{.stride = pieces, .modulus = chunks, .width = pieces};
  const ChunkMap own_block{.first = std::uint64_t{at.place} * pieces, .modulus = chunks};

  const Problem inside{.ranks = at.in_node};
  const Program scattered = embed(reduce_scatter::ring(inside, at.place), along_node, blocks);
  const Program gathered = embed(allgather::ring(inside, at.place), along_node, blocks);
  return then(then(scattered, embed(across, same_place, own_block)), gathered);
}

}  // namespace tutti
