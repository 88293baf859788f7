#include <array>
#include <span>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allgather {

/// Every block travels both ways round the ring, half the way each: ⌈(p−1)/2⌉ rounds instead of
/// p−1, with two messages per round. If p is even, the opposite rank is reached from one side only.
Program bidirectional_ring(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::int64_t r = self.index();
  const Rank next{wrap(r + 1, p)};
  const Rank previous{wrap(r - 1, p)};
  const std::uint32_t forwards = p / 2;  // ⌈(p−1)/2⌉
  const std::uint32_t backwards = (p - 1) / 2;
  Program program(forwards);
  if (p == 1) return program;
  // The rank's own block leaves both ways in one step, so that the dual adds both sides in one
  // fold.
  const std::array both{next, previous};
  const ChunkRange own(Chunk{self.index()});
  program.send(0, std::span(both).first(backwards > 0 ? 2 : 1), {&own, 1});
  for (std::uint32_t s = 0; s < forwards; ++s) {
    if (s > 0) program.send(s, next, Chunk{wrap(r - s, p)});
    program.receive(s, previous, Chunk{wrap(r - s - 1, p)});
    if (s >= backwards) continue;
    if (s > 0) program.send(s, previous, Chunk{wrap(r + s, p)});
    program.receive(s, next, Chunk{wrap(r + s + 1, p)});
  }
  return program;
}

}  // namespace tutti::allgather
