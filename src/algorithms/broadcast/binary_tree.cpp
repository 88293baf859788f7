#include <array>
#include <bit>
#include <span>

#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {

/// Down a complete binary tree, one level per round: rank v, counted from the root, sends
/// everything to 2v+1 and 2v+2.
Program binary_tree(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t v = from_root(problem, self);
  const auto height = static_cast<std::uint32_t>(std::bit_width(p)) - 1;
  const auto depth = static_cast<std::uint32_t>(std::bit_width(v + 1)) - 1;
  Program program(height);
  if (v != 0) program.receive(depth - 1, (v - 1) / 2, Chunk{0});
  const std::array children{2 * v + 1, 2 * v + 2};
  const std::size_t count = p > 2 * v + 2 ? 2 : p > 2 * v + 1 ? 1 : 0;
  if (count > 0) {
    const ChunkRange all(Chunk{0});
    program.send(depth, std::span(children).first(count), {&all, 1});
  }
  return turn_ranks(program, problem);
}

}  // namespace tutti::broadcast
