#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allgather {

/// Every rank sends its block to every other rank, all in one round. Each rank starts with its
/// neighbour, so that not all ranks send to the same rank first.
Program mesh(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  if (p == 1) return Program();
  Program program(1);
  std::vector<Rank> others;
  for (std::uint32_t i = 1; i < p; ++i) others.emplace_back(wrap(self + i, p));
  const ChunkRange own(Chunk{self});
  program.send(0, others, {&own, 1});
  for (std::uint32_t i = 1; i < p; ++i) {
    const std::uint32_t from = wrap(std::int64_t{self} - i, p);
    program.receive(0, from, Chunk{from});
  }
  return program;
}

}  // namespace tutti::allgather
