#include <array>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allgather {

/// Every block travels both ways round the ring, half the way each: ⌈(p−1)/2⌉ rounds instead of
/// p−1, with two messages per round. If p is even, a block has two chunks, and the opposite rank
/// gets one of them from each side. So both directions carry the same.
Program bidirectional_ring(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  if (p <= 2) return ring(problem, self);
  const std::int64_t r = self;
  const Rank next{wrap(r + 1, p)};
  const Rank previous{wrap(r - 1, p)};
  const std::uint32_t rounds = p / 2;  // ⌈(p−1)/2⌉
  const std::uint32_t chunks = p % 2 == 0 ? 2 : 1;
  const auto block = [&](std::int64_t owner) {
    return ChunkRange(Chunk{std::uint64_t{chunks} * wrap(owner, p)}, chunks);
  };
  // The part of a block that goes one way in a round: all of it, but only its first or its last
  // chunk to the opposite rank.
  const auto upwards = [&](std::uint32_t round, std::int64_t owner) {
    return round < (p - 1) / 2 ? block(owner) : ChunkRange(block(owner).first);
  };
  const auto downwards = [&](std::uint32_t round, std::int64_t owner) {
    return round < (p - 1) / 2 ? block(owner) : ChunkRange(Chunk{block(owner).end().index() - 1});
  };
  Program program(rounds);
  // The rank's own block leaves both ways in one step, so that the dual adds both sides in one
  // fold.
  const std::array both{next, previous};
  const ChunkRange own = block(r);
  program.send(0, both, {&own, 1});
  for (std::uint32_t s = 0; s < rounds; ++s) {
    if (s > 0) program.send(s, next, upwards(s, r - s));
    program.receive(s, previous, upwards(s, r - s - 1));
    if (s > 0) program.send(s, previous, downwards(s, r + s));
    program.receive(s, next, downwards(s, r + s + 1));
  }
  return program;
}

}  // namespace tutti::allgather
