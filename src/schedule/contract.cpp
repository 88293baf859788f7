#include <limits>
#include <string>

#include <tutti/error.hpp>
#include <tutti/schedule/contract.hpp>

#include "core/reject.hpp"

namespace tutti {
namespace {

ChunkSeries everything(const Contract& contract) { return {Chunk{0}, contract.chunks, 1}; }

ChunkSeries block(const Contract& contract, Rank rank) {
  const std::uint64_t m = contract.chunks / contract.ranks;
  return {Chunk{rank * m}, m, 1};
}

ChunkSeries only_at_root(const Contract& contract, Rank rank) {
  return rank == contract.root ? everything(contract) : ChunkSeries{};
}

}  // namespace

ChunkSeries Contract::input(Rank rank) const {
  switch (collective) {
    case Collective::broadcast:
    case Collective::scatter:
      return only_at_root(*this, rank);
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall:  // A rank's block is its row of the matrix of blocks.
      return block(*this, rank);
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::barrier:
      return everything(*this);
  }
  return {};
}

ChunkSeries Contract::output(Rank rank) const {
  switch (collective) {
    case Collective::broadcast:
    case Collective::allgather:
    case Collective::allreduce:
    case Collective::barrier:
      return everything(*this);
    case Collective::gather:
    case Collective::reduce:
      return only_at_root(*this, rank);
    case Collective::scatter:
    case Collective::reduce_scatter:
      return block(*this, rank);
    case Collective::alltoall:
      return {Chunk{rank}, ranks, ranks};
  }
  return {};
}

std::optional<Rank> Contract::origin(Chunk chunk) const {
  switch (collective) {
    case Collective::broadcast:
    case Collective::scatter:
      return root;
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall:
      return Rank{static_cast<std::uint32_t>(chunk.index() / (chunks / ranks))};
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::barrier:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Chunk> Contract::output_over(Rank rank, Chunk chunk) const {
  if (collective == Collective::alltoall) {
    return Chunk{chunk.index() % ranks * ranks + rank};
  }
  return output(rank).contains(chunk) ? std::optional(chunk) : std::nullopt;
}

void Contract::check() const {
  const std::string what(name(collective));
  if (ranks == 0 || ranks > std::numeric_limits<std::int32_t>::max()) {
    reject(what + " needs 1 to 2147483647 ranks, not " + std::to_string(ranks));
  }
  if (root >= ranks) {
    reject("root " + std::to_string(root) + " is not one of the " + std::to_string(ranks) +
           " ranks 0 to " + std::to_string(ranks - 1));
  }
  constexpr std::uint64_t most_chunks =
      std::uint64_t{1} << 60;  // So that sums of a few chunk numbers fit in 64 bits.
  if (chunks == 0) reject(what + " needs at least one chunk");
  if (chunks > most_chunks) {
    reject(what + " can have 2^60 chunks at most, not " + std::to_string(chunks));
  }
  if (has_block_per_rank(collective) && chunks % ranks != 0) {
    reject(what + " has one block per rank, so its chunks must be a multiple of " +
           std::to_string(ranks) + ", not " + std::to_string(chunks));
  }
  if (collective == Collective::alltoall && chunks != std::uint64_t{ranks} * ranks) {
    reject("alltoall among " + std::to_string(ranks) + " ranks has " +
           std::to_string(std::uint64_t{ranks} * ranks) + " chunks, one per pair, not " +
           std::to_string(chunks));
  }
}

}  // namespace tutti
