#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/within_nodes.hpp"

namespace tutti::allgather {

/// Bruck's algorithm across the nodes for each rank of a node, then all to all within each node:
/// ⌈log₂ N⌉ + 1 rounds, for short messages.
Program mesh_bruck(const Problem& problem, Rank self) {
  const Nodes at = nodes(problem, self);
  const std::uint32_t p = problem.ranks;
  const Program across = embed(bruck({.ranks = at.nodes}, at.node),
                               {.first = at.place, .stride = at.in_node, .modulus = p},
                               ChunkMap{.first = at.place, .stride = at.in_node, .modulus = p});
  const ChunkSets of_all_nodes = [&](Chunk place, std::vector<ChunkRange>& into) {
    for (std::uint32_t n = 0; n < at.nodes; ++n) {
      into.emplace_back(Chunk{std::uint64_t{n} * at.in_node + place.index()});
    }
  };
  const Program within = embed_sets(mesh({.ranks = at.in_node}, at.place),
                                    {.first = at.node * at.in_node, .modulus = p}, of_all_nodes);
  return then(across, within);
}

}  // namespace tutti::allgather
