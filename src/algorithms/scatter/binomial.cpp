#include <algorithm>
#include <bit>

#include "algorithms/scatter/scatter.hpp"
#include "algorithms/turn.hpp"

namespace tutti::scatter {

/// Recursive halving: a rank that holds the blocks of a range of ranks sends the upper half of them
/// to the first rank of that half. The tree is that of broadcast/binomial.
Program binomial(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t v = from_root(problem, self);
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(p - 1));
  const auto subtree = [p](std::uint32_t top, std::uint32_t bit) {
    return ChunkRange(Chunk{top}, std::min(1U << bit, p - top));
  };
  Program program(rounds);
  const auto parent_bit = v == 0 ? rounds : static_cast<std::uint32_t>(std::countr_zero(v));
  if (v != 0) {
    program.receive(rounds - 1 - parent_bit, v & (v - 1), subtree(v, parent_bit));
  }
  for (std::uint32_t bit = parent_bit; bit-- > 0;) {
    const std::uint32_t child = v | (1U << bit);
    if (child < p) program.send(rounds - 1 - bit, child, subtree(child, bit));
  }
  return turn_blocks(program, problem);
}

}  // namespace tutti::scatter
