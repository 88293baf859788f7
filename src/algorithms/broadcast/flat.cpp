#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {

/// The root sends everything to every rank, all in one round.
Program flat(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  if (p == 1) return Program();
  Program program(1);
  if (from_root(problem, self) == 0) {
    std::vector<Rank> others;
    for (std::uint32_t i = 1; i < p; ++i) others.emplace_back(i);
    const ChunkRange all(Chunk{0});
    program.send(0, others, {&all, 1});
  } else {
    program.receive(0, Rank{0}, Chunk{0});
  }
  return turn_ranks(program, problem);
}

}  // namespace tutti::broadcast
