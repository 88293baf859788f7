#include <tutti/schedule/algebra.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"

namespace tutti::allreduce {
namespace {

/// Handles one part of the data: rings along each dimension in turn, starting at `start`, and back.
Program part(const Problem& problem, Rank self, std::uint32_t start) {
  const std::vector<std::uint32_t>& dimensions = problem.shape.dimensions;
  const std::size_t count = dimensions.size();
  const std::uint64_t chunks = std::uint64_t{problem.ranks} * count;
  std::uint64_t first = std::uint64_t{problem.ranks} * start;
  std::uint64_t width = problem.ranks;
  Program scattered;
  Program gathered;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t dimension = (start + i) % count;
    std::uint32_t stride = 1;
    for (std::size_t j = 0; j < dimension; ++j) stride *= dimensions[j];
    const std::uint32_t size = dimensions[dimension];
    const std::uint32_t place = self.index() / stride % size;

    // The block that the previous ring left to this rank is divided among the ranks of this ring.
    width /= size;
    const RankMap along{
        .first = self.index() - place * stride, .stride = stride, .modulus = problem.ranks};
    const ChunkMap blocks{.first = first,
                          .stride = static_cast<std::int64_t>(width),
                          .modulus = chunks,
                          .width = width};
    const Problem ring{.ranks = size};
    scattered = then(scattered, embed(reduce_scatter::ring(ring, Rank{place}), along, blocks));
    gathered = then(embed(allgather::ring(ring, Rank{place}), along, blocks), gathered);
    first += place * width;
  }
  return then(scattered, gathered);
}

}  // namespace

/// Rings along each dimension of a torus. The data is divided into as many parts as there are
/// dimensions. Each part takes the dimensions in a different order, so that the links of all
/// dimensions are busy at once.
Program torus(const Problem& problem, Rank self) {
  Program all = part(problem, self, 0);
  for (std::uint32_t start = 1; start < problem.shape.dimensions.size(); ++start) {
    all = beside(all, part(problem, self, start));
  }
  return all;
}

}  // namespace tutti::allreduce
