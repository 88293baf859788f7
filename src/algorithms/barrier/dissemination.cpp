#include <bit>

#include "algorithms/barrier/barrier.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::barrier {

/// In round k each rank notifies the rank 2^k above of all ranks that it has heard from. After
/// ⌈log₂ p⌉ rounds each has heard from every rank, possibly more than once (Hensgen, Finkel and
/// Manber, 1988).
Program dissemination(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::int64_t r = self.index();
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(p - 1));
  const ChunkRange token(Chunk{0});
  Program program(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::int64_t distance = std::int64_t{1} << round;
    const Rank below{wrap(r - distance, p)};
    program.send(round, Rank{wrap(r + distance, p)}, token);
    program.receive_reduce(round, {&below, 1}, 1, {&token, 1});
  }
  return program;
}

}  // namespace tutti::barrier
