#include "algorithms/broadcast_in_nodes.hpp"

#include <vector>

#include <tutti/schedule/algebra.hpp>

#include "algorithms/scatter/scatter.hpp"
#include "algorithms/within_nodes.hpp"

namespace tutti::broadcast {
namespace {

/// Every rank sends its piece to the others of its node, except to the root, which has them all.
Program exchanged(const Problem& problem, Rank self, const Nodes& at) {
  if (at.in_node == 1) return Program();
  const std::uint32_t first = at.node * at.in_node;
  std::vector<Rank> others;
  for (std::uint32_t i = 1; i < at.in_node; ++i) {
    const Rank other{first + (at.place + i) % at.in_node};
    if (other != problem.root) others.push_back(other);
  }
  Program program(1);
  const ChunkRange own(Chunk{at.place});
  if (!others.empty()) program.send(0, others, {&own, 1});
  for (std::uint32_t i = 1; i < at.in_node && self != problem.root; ++i) {
    const std::uint32_t from = (at.place + at.in_node - i) % at.in_node;
    program.receive(0, first + from, Chunk{from});
  }
  return program;
}

}  // namespace

Program in_nodes(const Problem& problem, Rank self,
                 Program (*across)(const Problem& problem, Rank self)) {
  const Nodes at = nodes(problem, self);
  const Nodes root = nodes(problem, problem.root);
  Program divided(at.in_node > 1 ? 1 : 0);
  if (at.node == root.node) {
    divided = embed(scatter::flat({.ranks = at.in_node, .root = root.place}, at.place),
                    {.first = at.node * at.in_node, .modulus = problem.ranks},
                    ChunkMap{.modulus = at.in_node});
  }
  const Program between = embed(across({.ranks = at.nodes, .root = root.node}, at.node),
                                {.first = at.place, .stride = at.in_node, .modulus = problem.ranks},
                                ChunkMap{.first = at.place, .modulus = at.in_node});
  return then(then(divided, between), exchanged(problem, self, at));
}

}  // namespace tutti::broadcast
