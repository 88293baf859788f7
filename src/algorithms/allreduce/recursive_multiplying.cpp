#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/division.hpp"

namespace tutti::allreduce {

/// Recursive doubling with k in place of 2: in every round k groups exchange whole sums. Every rank
/// adds them in order of the groups, so all get the same bits. ⌈log_k p⌉ rounds for any p; for
/// short messages (Ruefenacht, Bull and Booth, "Generalisation of recursive doubling for
/// AllReduce", 2017).
Program recursive_multiplying(const Problem& problem, Rank self) {
  const std::uint32_t k = problem.values[0];
  const std::uint32_t rounds = division_depth(problem.ranks, k);
  const ChunkRange all(Chunk{0});
  Program program(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto cut = divided(problem.ranks, self, k, rounds - 1 - round);
    if (!cut) continue;
    if (!cut->receivers.empty()) program.send(round, cut->receivers, {&all, 1});
    program.receive_reduce(round, cut->sources, cut->own, {&all, 1});
  }
  return program;
}

}  // namespace tutti::allreduce
