#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/grid.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"
#include "algorithms/two_way_ring.hpp"

namespace tutti::allreduce {
namespace {

/// Handles one part of the data: rings along each dimension in turn, and back.
Program part(const Problem& problem, Rank self, std::uint32_t number) {
  const std::uint32_t ways = problem.values[0];
  const Grid grid(problem.shape.dimensions);
  const std::size_t count = grid.dimensions();
  const std::uint64_t chunks = std::uint64_t{problem.ranks} * count * ways;
  const bool upwards = number % ways == 0;
  std::uint64_t first = std::uint64_t{problem.ranks} * number;
  std::uint64_t width = problem.ranks;
  Program scattered;
  Program gathered;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t dimension = (number / ways + i) % count;
    const std::uint32_t size = grid.size(dimension);
    const std::uint32_t place = grid.coordinate(self, dimension);

    // The block that the previous ring left to this rank is divided among the ranks of this ring.
    width /= size;
    const RankMap along{.first = grid.moved(self, dimension, 0),
                        .stride = grid.stride(dimension),
                        .modulus = problem.ranks};
    const ChunkMap blocks{.first = first,
                          .stride = static_cast<std::int64_t>(width),
                          .modulus = chunks,
                          .width = width};
    const Problem ring{.ranks = size};
    const Program down =
        in_direction(upwards, size, place, [&](Rank at) { return reduce_scatter::ring(ring, at); });
    const Program up =
        in_direction(upwards, size, place, [&](Rank at) { return allgather::ring(ring, at); });
    scattered = then(scattered, embed(down, along, blocks));
    gathered = then(embed(up, along, blocks), gathered);
    first += place * width;
  }
  return then(scattered, gathered);
}

}  // namespace

/// Rings along each dimension of a torus, in both directions. The data is divided into as many
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

}  // namespace tutti::allreduce
