#include <tutti/schedule/algebra.hpp>

#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/cyclic.hpp"
#include "algorithms/reduce/reduce.hpp"

namespace tutti::allreduce {

/// The whole vector goes once round the ring to be added up and once more to be distributed, always
/// to the left. Only one rank is busy at a time. For comparison only.
Program ring_naive(const Problem& problem, Rank self) {
  const Problem whole{.ranks = problem.ranks};
  // reduce/chain ends at rank 0. The sum continues to rank p−1, then p−2: a mirrored chain.
  const Rank mirrored{wrap(-std::int64_t{self}, problem.ranks)};
  const Program onwards = embed(broadcast::chain(whole, mirrored),
                                {.stride = -1, .modulus = problem.ranks}, {.modulus = 1});
  return then(reduce::chain(whole, self), onwards);
}

}  // namespace tutti::allreduce
