#include <algorithm>
#include <vector>

#include "algorithms/barrier/barrier.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::barrier {

/// In round i each rank notifies the ranks kⁱ, 2kⁱ, …, (k−1)kⁱ above of all ranks that it has heard
/// from. After ⌈log_k p⌉ rounds each has heard from every rank, possibly more than once (k = 2:
/// Hensgen, Finkel and Manber, 1988; any k: Hoefler, Mehlan, Mietke and Rehm, 2006). Ranks that
/// share cores gain by few rounds: in each of them a rank may have to wait for its core.
Program dissemination(const Problem& problem, Rank self) {
  const std::uint64_t p = problem.ranks;
  const std::uint32_t k = problem.values[0];
  const std::int64_t r = self;
  const ChunkRange token(Chunk{0});
  std::uint32_t rounds = 0;
  for (std::uint64_t heard = 1; heard < p; heard *= k) ++rounds;
  Program program(rounds);
  std::uint64_t heard = 1;
  for (std::uint32_t round = 0; round < rounds; ++round, heard *= k) {
    std::vector<Rank> above;
    std::vector<Rank> below;
    for (std::uint64_t distance = heard; distance < std::min(p, k * heard); distance += heard) {
      above.emplace_back(wrap(r + static_cast<std::int64_t>(distance), problem.ranks));
      below.emplace_back(wrap(r - static_cast<std::int64_t>(distance), problem.ranks));
    }
    program.send(round, above, {&token, 1});
    program.receive_reduce(round, below, below.size(), {&token, 1});
  }
  return program;
}

}  // namespace tutti::barrier
