#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allgather {

/// Ranks exchange with their left and right neighbours in turn: first their own blocks, then always
/// the two blocks that they received last. p/2 rounds, and data moves between neighbours only (Chen
/// and Sun, "Performance evaluation of Allgather algorithms on terascale Linux cluster with fast
/// Ethernet", 2005). An odd number of ranks cannot form pairs, so it uses the ring.
Program neighbour_exchange(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  if (p % 2 == 1) return ring(problem, self);
  const std::int64_t r = self;
  // Seen from an odd rank everything is mirrored.
  const std::int64_t towards = r % 2 == 0 ? 1 : -1;
  const std::uint32_t pairs = p / 2;
  const auto pair = [&](std::int64_t away) {
    return ChunkRange(Chunk{2 * wrap(r / 2 + towards * away, pairs)}, 2);
  };
  Program program(pairs);
  const Rank first{wrap(r + towards, p)};
  const Rank second{wrap(r - towards, p)};
  program.send(0, first, Chunk{self});
  program.receive(0, first, Chunk{first});
  std::int64_t last = 0;
  for (std::uint32_t round = 1; round < pairs; ++round) {
    const Rank partner = round % 2 == 1 ? second : first;
    const std::int64_t next = round % 2 == 1 ? -(std::int64_t{round} + 1) / 2 : round / 2;
    program.send(round, partner, pair(last));
    program.receive(round, partner, pair(next));
    last = next;
  }
  return program;
}

}  // namespace tutti::allgather
