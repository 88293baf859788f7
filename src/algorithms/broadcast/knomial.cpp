#include <vector>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/knomial_tree.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {

/// Down a k-nomial tree: in every round each rank that has the data sends it to k−1 others, so that
/// their number grows k-fold. Fewer rounds than a binomial tree, with more messages in each.
Program knomial(const Problem& problem, Rank self) {
  const std::uint32_t k = problem.values[0];
  const Rank v{from_root(problem, self)};
  const KnomialNode node = knomial_node(problem.ranks, k, v);
  const ChunkRange all(Chunk{0});
  Program program(node.rounds);
  if (v != Rank{0}) program.receive(node.level, node.parent, all);
  std::vector<Rank> children;
  for_each_knomial_round(problem.ranks, k, v,
                         [&](std::uint32_t round, std::uint32_t distance, std::uint32_t count) {
                           children.clear();
                           for (std::uint32_t i = 1; i <= count; ++i) {
                             children.emplace_back(v + i * distance);
                           }
                           program.send(round, children, {&all, 1});
                         });
  return turn_ranks(program, problem);
}

}  // namespace tutti::broadcast
