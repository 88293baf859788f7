#include <algorithm>

#include "algorithms/knomial_tree.hpp"
#include "algorithms/scatter/scatter.hpp"
#include "algorithms/turn.hpp"

namespace tutti::scatter {

/// Down a k-nomial tree: a rank that holds the blocks of a range of ranks divides them into k parts
/// and sends all but the first to the first ranks of those parts.
Program knomial(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t k = problem.values[0];
  const Rank v{from_root(problem, self)};
  const KnomialNode node = knomial_node(p, k, v);
  const auto subtree = [p](std::uint32_t top, std::uint64_t span) {
    return ChunkRange(Chunk{top}, std::min<std::uint64_t>(span, p - top));
  };
  Program program(node.rounds);
  if (v != Rank{0}) program.receive(node.level, node.parent, subtree(v, node.span));
  for_each_knomial_round(p, k, v,
                         [&](std::uint32_t round, std::uint32_t distance, std::uint32_t count) {
                           for (std::uint32_t i = 1; i <= count; ++i) {
                             const std::uint32_t child = v + i * distance;
                             program.send(round, child, subtree(child, distance));
                           }
                         });
  return turn_blocks(program, problem);
}

}  // namespace tutti::scatter
