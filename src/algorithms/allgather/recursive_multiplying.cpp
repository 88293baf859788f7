#include "algorithms/allgather/allgather.hpp"
#include "algorithms/division.hpp"

namespace tutti::allgather {

/// Recursive doubling with k in place of 2: in every round k groups exchange all their blocks, so
/// that the data of a group grows k-fold. Works for any p: if the groups differ by one rank, some
/// ranks of the smaller groups send their blocks once more.
Program recursive_multiplying(const Problem& problem, Rank self) {
  const std::uint32_t k = problem.values[0];
  const std::uint32_t rounds = division_depth(problem.ranks, k);
  Program program(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto cut = divided(problem.ranks, self, k, rounds - 1 - round);
    if (!cut) continue;
    const auto blocks = [](RankGroup part) { return ChunkRange(Chunk{part.first}, part.count); };
    const ChunkRange ours = blocks(cut->parts[cut->own]);
    if (!cut->receivers.empty()) program.send(round, cut->receivers, {&ours, 1});
    for (std::uint32_t i = 0; i < cut->sources.size(); ++i) {
      program.receive(round, cut->sources[i], blocks(cut->parts[i < cut->own ? i : i + 1]));
    }
  }
  return program;
}

}  // namespace tutti::allgather
