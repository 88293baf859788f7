#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/inorder_tree.hpp"
#include "algorithms/segments.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {
namespace {

/// The program of a rank other than the root in one of the two trees, with ranks counted from the
/// root. `others` maps the indices of the tree to the other ranks.
Program half(std::uint32_t size, Rank index, const RankMap& others, Chunk chunk) {
  Program entry(1);
  if (index == inorder_root(size)) entry.receive(0, Rank{0}, chunk);
  const Program tree =
      embed(inorder_broadcast(size, index), others, {.first = chunk.index(), .modulus = 2});
  return then(entry, embed(tree, {.first = 1, .modulus = size + 1}, {.modulus = 2}));
}

}  // namespace

/// Two binary trees over the other ranks; the root feeds half of the data to each. Every rank
/// forwards data in at most one of them, so no rank sends more than the whole data.
Program double_tree(const Problem& problem, Rank self) {
  if (problem.ranks == 1) return Program();
  const std::uint32_t others = problem.ranks - 1;
  const std::uint32_t v = from_root(problem, self);
  const RankMap first{.modulus = others};
  const RankMap second = second_tree(others);
  Program program(1 + inorder_height(others));
  if (v == 0) {
    const Rank top = inorder_root(others);
    program.send(0, 1 + first(top), Chunk{0});
    program.send(0, 1 + second(top), Chunk{1});
  } else {
    const Rank index{v - 1};
    program = beside(half(others, index, first, Chunk{0}),
                     half(others, index_in_second_tree(others, index), second, Chunk{1}));
  }
  return pipelined(turn_ranks(program, problem), segments_of(problem));
}

}  // namespace tutti::broadcast
