#include <numeric>

#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/grid.hpp"
#include "algorithms/two_way_ring.hpp"

namespace tutti::allgather {
namespace {

/// Handles one part of each block: rings along each dimension in turn, from `start` on. Each ring
/// passes on all that the rings before have gathered.
Program part(const Problem& problem, Rank self, std::uint32_t number) {
  const std::uint32_t ways = problem.values[0];
  const Grid grid(problem.shape.dimensions);
  const std::uint64_t parts = ways * grid.dimensions();
  std::vector<std::vector<std::uint32_t>> gathered;
  for (std::size_t d = 0; d < grid.dimensions(); ++d) {
    gathered.push_back({grid.coordinate(self, d)});
  }
  Program all;
  for (std::size_t i = 0; i < grid.dimensions(); ++i) {
    const std::size_t along = (number / ways + i) % grid.dimensions();
    const std::uint32_t size = grid.size(along);
    const std::uint32_t place = grid.coordinate(self, along);
    const Program ring = in_direction(number % ways == 0, size, place, [&](Rank at) {
      return allgather::ring({.ranks = size}, at);
    });
    const ChunkSets held = [&](Chunk of, std::vector<ChunkRange>& into) {
      gathered[along] = {static_cast<std::uint32_t>(of.index())};
      for (const Rank owner : grid.ranks(gathered)) {
        into.emplace_back(Chunk{owner * parts + number});
      }
    };
    all = then(all, embed_sets(ring,
                               {.first = grid.moved(self, along, 0),
                                .stride = grid.stride(along),
                                .modulus = problem.ranks},
                               held));
    gathered[along].resize(size);
    std::iota(gathered[along].begin(), gathered[along].end(), 0U);
  }
  return all;
}

}  // namespace

/// Rings along each dimension of a torus, in both directions. Each block is divided into as many
/// parts as there are dimensions and directions. Each part starts with another dimension or
/// direction, so that all links are busy at once.
Program torus(const Problem& problem, Rank self) {
  Program all = part(problem, self, 0);
  const std::size_t parts = problem.values[0] * problem.shape.dimensions.size();
  for (std::uint32_t number = 1; number < parts; ++number) {
    all = beside(all, part(problem, self, number));
  }
  return all;
}

}  // namespace tutti::allgather
