#include <bit>

#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/halves.hpp"

namespace tutti::allreduce {

/// Ranks exchange whole sums with a partner in the other half of a group that doubles every round.
/// Every rank computes lower half's sum + upper half's sum, so all get the same bits. Works for any
/// p in ⌈log₂ p⌉ rounds: if a group is odd, one rank sends its sum twice in that round.
Program recursive_doubling(const Problem& problem, Rank self) {
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(problem.ranks - 1));
  const ChunkRange all(Chunk{0});
  Program program(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto cut = halves(problem.ranks, self, rounds - 1 - round);
    if (!cut) continue;
    if (!cut->receivers.empty()) program.send(round, cut->receivers, {&all, 1});
    const std::uint32_t own = cut->own_first < cut->other_first ? 0 : 1;
    program.receive_reduce(round, {&cut->source, 1}, own, {&all, 1});
  }
  return program;
}

}  // namespace tutti::allreduce
