#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// The sum of block c starts at rank c + 1. Each rank on its way up the ring adds its own
/// contribution, and the sum is complete at rank c. This is the dual of allgather/ring, mirrored so
/// that data travels in the same direction in both.
Program ring(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const Rank mirrored{wrap(-std::int64_t{self}, p)};
  const Program down =
      dual(allgather::ring(problem, mirrored), Collective::allgather, mirrored, Own::last);
  return embed(down, {.stride = -1, .modulus = p}, {.stride = -1, .modulus = p});
}

}  // namespace tutti::reduce_scatter
