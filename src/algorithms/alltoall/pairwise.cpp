#include "algorithms/alltoall/alltoall.hpp"
#include "algorithms/alltoall/pair.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::alltoall {

/// In round i every rank sends to the rank i + 1 above and receives from the rank i + 1 below, so
/// that each has one message in and one out at a time.
Program pairwise(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t r = self;
  Program program(p - 1);
  for (std::uint32_t i = 1; i < p; ++i) {
    const std::uint32_t to = wrap(r + i, p);
    const std::uint32_t from = wrap(std::int64_t{r} - i, p);
    program.send(i - 1, to, pair(problem, r, to));
    program.receive(i - 1, from, pair(problem, from, r));
  }
  return program;
}

}  // namespace tutti::alltoall
