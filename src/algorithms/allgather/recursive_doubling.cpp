#include <bit>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/halves.hpp"

namespace tutti::allgather {

/// The data of a group doubles every round: ranks exchange all blocks of their half for all blocks
/// of the other half. Works for any p: if the halves differ by one rank, one rank of the smaller
/// half sends its blocks twice in that round. With p = 2^k this is the textbook exchange with r xor
/// 2^i.
Program recursive_doubling(const Problem& problem, Rank self) {
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(problem.ranks - 1));
  Program program(rounds);
  program.reserve(2 * std::size_t{rounds});
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto cut = halves(problem.ranks, self, rounds - 1 - round);
    if (!cut) continue;
    const ChunkRange ours(Chunk{cut->own_first}, cut->own_count);
    if (!cut->receivers.empty()) program.send(round, cut->receivers, {&ours, 1});
    program.receive(round, cut->source, ChunkRange(Chunk{cut->other_first}, cut->other_count));
  }
  return program;
}

}  // namespace tutti::allgather
