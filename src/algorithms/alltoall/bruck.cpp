#include <bit>

#include "algorithms/alltoall/alltoall.hpp"
#include "algorithms/alltoall/pair.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::alltoall {
namespace {

/// The blocks that rank `r` forwards in a round. A block whose destination is `offset` ranks away
/// moves 2^round up the ring in each round whose bit is set in the offset, lowest bit first.
std::vector<ChunkRange> forwarded(const Problem& problem, std::uint32_t r, std::uint32_t round) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t bit = 1U << round;
  std::vector<ChunkRange> chunks;
  for (std::uint32_t offset = bit; offset < p; offset = (offset + 1) | bit) {
    const std::uint32_t travelled = offset & (bit - 1);
    const std::uint32_t from = wrap(std::int64_t{r} - travelled, p);
    chunks.emplace_back(pair(problem, from, wrap(std::int64_t{from} + offset, p)));
  }
  return chunks;
}

}  // namespace

/// Blocks travel in hops of 1, 2, 4, … ranks, many in one message: ⌈log₂ p⌉ messages per rank
/// instead of p−1, for about log₂(p)/2 times the bytes. For short messages (Bruck et al., 1997).
Program bruck(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::int64_t r = self;
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(p - 1));
  Program program(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t hop = 1U << round;
    const Rank below{wrap(r - hop, p)};
    program.send(round, wrap(r + hop, p), forwarded(problem, self, round));
    program.receive(round, below, forwarded(problem, below, round));
  }
  return program;
}

}  // namespace tutti::alltoall
