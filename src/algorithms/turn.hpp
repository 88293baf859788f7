#pragma once

#include <cstdint>

#include <tutti/schedule/algebra.hpp>
#include <tutti/schedule/problem.hpp>

namespace tutti {

/// Where `self` stands, counted from the root.
[[nodiscard]] inline std::uint32_t from_root(const Problem& problem, Rank self) {
  return (self.index() + problem.ranks - problem.root.index()) % problem.ranks;
}

/// A program written as if the root were rank 0, turned so that it is problem.root. Chunks stay.
[[nodiscard]] inline Program turn_ranks(const Program& program, const Problem& problem) {
  if (problem.root == Rank{0}) return program;
  constexpr std::uint64_t unmoved = std::uint64_t{1} << 62;
  return embed(program, {.first = problem.root.index(), .modulus = problem.ranks},
               {.modulus = unmoved});
}

/// The same where there is a block per rank, and the blocks turn with their ranks.
[[nodiscard]] inline Program turn_blocks(const Program& program, const Problem& problem) {
  if (problem.root == Rank{0}) return program;
  return embed(program, {.first = problem.root.index(), .modulus = problem.ranks},
               {.first = problem.root.index(), .modulus = problem.ranks});
}

/// The same program over `chunks` chunks, all of which stand for its chunk 0.
[[nodiscard]] inline Program widen(const Program& program, const Problem& problem,
                                   std::uint64_t chunks) {
  return embed(program, {.modulus = problem.ranks},
               {.stride = static_cast<std::int64_t>(chunks), .modulus = chunks, .width = chunks});
}

}  // namespace tutti
