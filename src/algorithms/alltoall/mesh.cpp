#include "algorithms/alltoall/alltoall.hpp"
#include "algorithms/alltoall/pair.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::alltoall {

/// Every rank sends every other rank its block, all in one round, starting with the neighbour.
Program mesh(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t r = self;
  if (p == 1) return Program();
  Program program(1);
  for (std::uint32_t i = 1; i < p; ++i) {
    const std::uint32_t to = wrap(r + i, p);
    program.send(0, to, pair(problem, r, to));
  }
  for (std::uint32_t i = 1; i < p; ++i) {
    const std::uint32_t from = wrap(std::int64_t{r} - i, p);
    program.receive(0, from, pair(problem, from, r));
  }
  return program;
}

}  // namespace tutti::alltoall
