#include "algorithms/scatter/scatter.hpp"
#include "algorithms/turn.hpp"

namespace tutti::scatter {

/// The root sends each rank its block, all in one round.
Program flat(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  if (p == 1) return Program();
  const std::uint32_t v = from_root(problem, self);
  Program program(1);
  if (v == 0) {
    for (std::uint32_t i = 1; i < p; ++i) program.send(0, i, Chunk{i});
  } else {
    program.receive(0, Rank{0}, Chunk{v});
  }
  return turn_blocks(program, problem);
}

}  // namespace tutti::scatter
