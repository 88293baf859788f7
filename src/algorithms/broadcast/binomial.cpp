#include <bit>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {

/// The minimum-spanning-tree broadcast: in every round each rank that has the data sends it on, so
/// that the number of such ranks doubles. In round k data travels a distance of 2^(rounds−1−k). The
/// farthest half is served first, and every subtree is a range of consecutive ranks.
Program binomial(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t v = from_root(problem, self);
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(p - 1));
  Program program(rounds);
  // The lowest bit set in v leads to its parent; lower bits lead to children.
  const auto parent_bit = v == 0 ? rounds : static_cast<std::uint32_t>(std::countr_zero(v));
  if (v != 0) program.receive(rounds - 1 - parent_bit, v & (v - 1), Chunk{0});
  for (std::uint32_t bit = parent_bit; bit-- > 0;) {
    const std::uint32_t child = v | (1U << bit);
    if (child < p) program.send(rounds - 1 - bit, child, Chunk{0});
  }
  return turn_ranks(program, problem);
}

}  // namespace tutti::broadcast
