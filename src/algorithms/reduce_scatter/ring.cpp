#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::reduce_scatter {

/// The sum of block c sets out at rank c + 1, takes in each rank's own on its way up the ring, and
/// is whole when it reaches rank c. This is allgather/ring run backwards, and then mirrored so that
/// data goes the same way round the ring in both.
Program ring(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const Rank mirrored{wrap(-std::int64_t{self.index()}, p)};
  const Program down =
      dual(allgather::ring(problem, mirrored), Collective::allgather, mirrored, Own::last);
  return embed(down, {.stride = -1, .modulus = p}, {.stride = -1, .modulus = p});
}

}  // namespace tutti::reduce_scatter
