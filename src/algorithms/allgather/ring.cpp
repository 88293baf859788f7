#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allgather {

/// Blocks travel round the ring: in every round each rank passes the block that it received last to
/// the next rank. Rank r sends block r − s in round s.
Program ring(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::int64_t r = self;
  const Rank next{wrap(r + 1, p)};
  const Rank previous{wrap(r - 1, p)};
  Program program(p - 1);
  program.reserve(2 * std::size_t{p - 1});
  for (std::uint32_t s = 0; s + 1 < p; ++s) {
    program.send(s, next, Chunk{wrap(r - s, p)});
    program.receive(s, previous, Chunk{wrap(r - s - 1, p)});
  }
  return program;
}

}  // namespace tutti::allgather
