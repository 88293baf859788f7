#pragma once

#include <algorithm>
#include <cstdint>

#include "cost/closed_form/terms.hpp"

/// Counts of algorithms that send each of the p blocks of n/p bytes to every other rank: allgather
/// and, with the directions reversed, reduce_scatter.
namespace tutti::formula::every_block {

/// Common to most of them: every rank sends as much as it receives.
[[nodiscard]] inline Figures evenly(std::uint64_t p, std::uint64_t n, std::uint64_t rounds,
                                    std::uint64_t blocks_in_a_round) {
  const std::uint64_t block = n / p;
  return {.rounds = static_cast<std::uint32_t>(rounds),
          .messages = p * (p - 1),
          .bytes = (p - 1) * n,
          .most_sent = (p - 1) * block,
          .most_received = (p - 1) * block,
          .most_in_a_round = blocks_in_a_round * block};
}

[[nodiscard]] inline Figures mesh(std::uint64_t p, std::uint64_t n) {
  return evenly(p, n, 1, p - 1);
}

[[nodiscard]] inline Figures ring(std::uint64_t p, std::uint64_t n) {
  return evenly(p, n, p - 1, 1);
}

/// Messages that a rank sends. If p is even, the block for the opposite rank takes two.
[[nodiscard]] constexpr std::uint64_t both_ways(std::uint64_t p) {
  return p > 2 && p % 2 == 0 ? p : p - 1;
}

[[nodiscard]] inline Figures bidirectional_ring(std::uint64_t p, std::uint64_t n) {
  Figures figures = evenly(p, n, p / 2, p == 2 ? 1 : 2);
  figures.messages = p * both_ways(p);
  return figures;
}

[[nodiscard]] inline Figures bruck(std::uint64_t p, std::uint64_t n) {
  Figures figures = evenly(p, n, ceil_log(p), largest_branch(p));
  figures.messages = p * ceil_log(p);
  return figures;
}

[[nodiscard]] inline Figures mesh_bruck(const Shape& shape, std::uint64_t n) {
  const std::uint64_t p = shape.size();
  const std::uint64_t others = in_node(shape) - 1;
  const std::uint64_t across = ceil_log(nodes(shape));
  const std::uint64_t branch = nodes(shape) > 1 ? largest_branch(nodes(shape)) : 0;
  Figures figures =
      evenly(p, n, across + (others > 0 ? 1 : 0), std::max(branch, others * nodes(shape)));
  figures.messages = p * (across + others);
  return figures;
}

}  // namespace tutti::formula::every_block
