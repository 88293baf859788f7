#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/inorder_tree.hpp"
#include "algorithms/segments.hpp"

namespace tutti::allreduce {
namespace {

/// Sends chunk 0 up a tree and down again.
Program up_and_down(std::uint32_t size, Rank index) {
  const Program down = inorder_broadcast(size, index);
  return then(dual(down, Collective::broadcast, index), down);
}

}  // namespace

/// Half the data goes up and down each of two binary trees. Every rank is an inner node of at most
/// one of them, so the work of adding and forwarding is spread over all ranks.
Program double_tree(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const Program one = up_and_down(p, self);
  const Program other = embed(up_and_down(p, index_in_second_tree(p, self)), second_tree(p),
                              {.first = 1, .modulus = 2});
  return pipelined(beside(one, other), segments_of(problem));
}

}  // namespace tutti::allreduce
