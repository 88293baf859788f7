#include <algorithm>
#include <bit>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allgather {

/// In round k rank r receives from rank r + 2^k all the blocks that it has and r still needs. Then
/// r holds blocks r … r + 2^(k+1) − 1. Takes ⌈log₂ p⌉ rounds for every p (Bruck et al., 1997).
Program bruck(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::int64_t r = self;
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(p - 1));
  Program program(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t distance = 1U << round;
    const std::uint32_t count = std::min(distance, p - distance);
    const std::uint32_t above = wrap(r + distance, p);
    program.send(round, wrap(r - distance, p), CyclicRange(self, count, p));
    program.receive(round, above, CyclicRange(above, count, p));
  }
  return program;
}

}  // namespace tutti::allgather
