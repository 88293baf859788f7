#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/cyclic.hpp"

namespace tutti::allreduce {

/// Every rank sends everything to every other rank and adds all contributions in order of rank: one
/// round, and the same bits on all ranks.
Program mesh(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  if (p == 1) return Program();
  std::vector<Rank> outwards;
  std::vector<Rank> ascending;
  for (std::uint32_t i = 1; i < p; ++i) outwards.emplace_back(wrap(self + i, p));
  for (std::uint32_t i = 0; i < p; ++i) {
    if (i != self) ascending.emplace_back(i);
  }
  const ChunkRange all(Chunk{0});
  Program program(1);
  program.send(0, outwards, {&all, 1});
  program.receive_reduce(0, ascending, self, {&all, 1});
  return program;
}

}  // namespace tutti::allreduce
