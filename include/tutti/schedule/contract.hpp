#pragma once

#include <cstdint>
#include <optional>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule/chunk.hpp>

namespace tutti {

/// The promise of a collective: the input chunks of each rank, its output chunks, and the ranks
/// whose contributions each output chunk must hold.
///
/// Chunks are numbered over the whole data. In collectives with one block per rank (scatter,
/// gather, allgather, reduce_scatter), block r is chunks r·m … r·m + m − 1 with m = chunks / ranks.
/// In alltoall the block from rank s to rank d is block s·ranks + d.
struct Contract {
  Collective collective = Collective::barrier;
  std::uint32_t ranks = 1;
  Rank root{};
  std::uint64_t chunks = 1;

  /// The chunks in the input of `rank`, in buffer order.
  [[nodiscard]] TUTTI_API ChunkSeries input(Rank rank) const;
  /// The chunks in the output of `rank`, in buffer order. In alltoall with several chunks per block
  /// the output chunks are not evenly spaced, so m must be 1.
  [[nodiscard]] TUTTI_API ChunkSeries output(Rank rank) const;
  /// The rank that contributes `chunk`; no value if every rank contributes (reductions).
  [[nodiscard]] TUTTI_API std::optional<Rank> origin(Chunk chunk) const;
  /// True if a contribution may count more than once. Only a barrier, which has no data, permits
  /// it.
  [[nodiscard]] bool may_repeat() const { return collective == Collective::barrier; }
  /// The output chunk that has the same place in the buffer as input chunk `chunk`, if `rank` calls
  /// in place; no value if there is none. In alltoall the block from rank d overwrites the block
  /// for rank d. In other collectives a chunk overwrites itself.
  [[nodiscard]] TUTTI_API std::optional<Chunk> output_over(Rank rank, Chunk chunk) const;

  /// Throws invalid_argument unless ranks ≥ 1, root < ranks, and the number of chunks is a multiple
  /// of the number of blocks.
  TUTTI_API void check() const;

  friend bool operator==(const Contract&, const Contract&) = default;
};

}  // namespace tutti
