#include "algorithms/parallel_trees.hpp"

#include <bit>
#include <vector>

#include "algorithms/cyclic.hpp"

namespace tutti {
namespace {

/// A rank that is `offset` above the owner of a block sends it `distance` further. All such
/// branches, with offsets `offset`, offset + stride, …, are served by one message.
struct Branch {
  std::uint32_t offset;
  std::uint32_t distance;
  std::uint32_t stride;
};

/// From a rank `offset` above the owner to all ranks of its subtree of `span` ranks, one branch of
/// the subtree after the other: so few sums are incomplete at a time if this is run backwards.
void descend(std::uint32_t ranks, std::uint32_t offset, std::uint32_t span, std::uint32_t stride,
             std::vector<Branch>& branches) {
  for (std::uint32_t distance = span / 2; distance > 0; distance /= 2) {
    if (offset + distance >= ranks) continue;
    branches.push_back({.offset = offset, .distance = distance, .stride = stride});
    descend(ranks, offset + distance, distance, stride, branches);
  }
}

std::vector<ChunkRange> blocks_of(std::uint32_t ranks, std::uint32_t holder, const Branch& branch) {
  std::vector<ChunkRange> chunks;
  for (std::uint64_t offset = branch.offset; offset + branch.distance < ranks;
       offset += branch.stride) {
    chunks.emplace_back(
        Chunk{wrap(std::int64_t{holder} - static_cast<std::int64_t>(offset), ranks)});
  }
  return chunks;
}

}  // namespace

Program parallel_trees(std::uint32_t ranks, Rank self, std::uint32_t span) {
  std::vector<Branch> branches;
  const std::uint32_t all = std::bit_ceil(ranks);
  for (std::uint32_t distance = all / 2; distance >= span && distance > 0; distance /= 2) {
    branches.push_back({.offset = 0, .distance = distance, .stride = 2 * distance});
  }
  descend(ranks, 0, span, span, branches);
  Program program(static_cast<std::uint32_t>(branches.size()));
  for (std::uint32_t round = 0; round < branches.size(); ++round) {
    const Branch& branch = branches[round];
    const Rank above{wrap(std::int64_t{self} + branch.distance, ranks)};
    const Rank below{wrap(std::int64_t{self} - branch.distance, ranks)};
    program.send(round, above, blocks_of(ranks, self, branch));
    program.receive(round, below, blocks_of(ranks, below, branch));
  }
  return program;
}

}  // namespace tutti
