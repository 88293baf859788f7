#include "algorithms/allgather/allgather.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/gather/gather.hpp"
#include "algorithms/turn.hpp"

namespace tutti::allgather {

/// Rank 0 gathers all blocks and broadcasts them, both along binomial trees.
Program gather_broadcast(const Problem& problem, Rank self) {
  const Problem at_zero{.ranks = problem.ranks};
  return then(gather::binomial(at_zero, self),
              widen(broadcast::binomial(at_zero, self), at_zero, problem.ranks));
}

}  // namespace tutti::allgather
