#pragma once

#include <cstdint>
#include <optional>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule/chunk.hpp>

namespace tutti {

/// What a collective promises: which chunks each rank brings, which it ends with, and whose
/// contributions those must hold.
///
/// Chunks are numbered over the whole data. Where the data is one block per rank (scatter, gather,
/// allgather, reduce_scatter), block r is chunks r·m … r·m + m − 1 with m = chunks / ranks. In
/// alltoall the block that rank s brings for rank d is block s·ranks + d.
struct Contract {
  Collective collective = Collective::barrier;
  std::uint32_t ranks = 1;
  Rank root{};
  std::uint64_t chunks = 1;

  /// The chunks in the input of `rank`, in the order in which they stand there.
  [[nodiscard]] TUTTI_API ChunkSeries input(Rank rank) const;
  /// The chunks in the output of `rank`, in the order in which they stand there. In alltoall with
  /// several chunks to a block only whole blocks are evenly spaced, so m must be 1.
  [[nodiscard]] TUTTI_API ChunkSeries output(Rank rank) const;
  /// The one rank whose contribution `chunk` is; none if every rank contributes (reductions).
  [[nodiscard]] TUTTI_API std::optional<Rank> origin(Chunk chunk) const;
  /// Whether a contribution may count more than once. Only a barrier, which has no data, is so lax.
  [[nodiscard]] bool may_repeat() const { return collective == Collective::barrier; }
  /// The chunk of the output that stands where `chunk` of the input stands when `rank` makes the
  /// call in place; none if no output stands there. In alltoall the block from rank d takes the
  /// place of the block for rank d; elsewhere a chunk takes its own place.
  [[nodiscard]] TUTTI_API std::optional<Chunk> output_over(Rank rank, Chunk chunk) const;

  /// Throws invalid_argument unless ranks ≥ 1, root < ranks, and the chunks fill whole blocks.
  TUTTI_API void check() const;

  friend bool operator==(const Contract&, const Contract&) = default;
};

}  // namespace tutti
