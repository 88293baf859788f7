#pragma once

#include <cstdint>

#include <tutti/schedule/algebra.hpp>
#include <tutti/schedule/problem.hpp>

namespace tutti {

/// The position of `self`, counted from the root.
[[nodiscard]] inline std::uint32_t from_root(const Problem& problem, Rank self) {
  return (self + problem.ranks - problem.root) % problem.ranks;
}

/// Rotates the ranks of a program written for root 0 so that the root is problem.root. Chunks stay.
[[nodiscard]] inline Program turn_ranks(const Program& program, const Problem& problem) {
  if (problem.root == Rank{0}) return program;
  constexpr std::uint64_t unmoved = std::uint64_t{1} << 62;
  return embed(program, {.first = problem.root, .modulus = problem.ranks}, {.modulus = unmoved});
}

/// The same for collectives with a block per rank: the blocks rotate with their ranks.
[[nodiscard]] inline Program turn_blocks(const Program& program, const Problem& problem) {
  if (problem.root == Rank{0}) return program;
  return embed(program, {.first = problem.root, .modulus = problem.ranks},
               {.first = problem.root, .modulus = problem.ranks});
}

/// Replaces chunk 0 of the program by all of `chunks` chunks.
[[nodiscard]] inline Program widen(const Program& program, const Problem& problem,
                                   std::uint64_t chunks) {
  return embed(program, {.modulus = problem.ranks},
               {.stride = static_cast<std::int64_t>(chunks), .modulus = chunks, .width = chunks});
}

}  // namespace tutti
