#pragma once

#include <cstdint>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/chunk.hpp>
#include <tutti/schedule/contract.hpp>

namespace tutti {

/// How long each chunk is, in elements or bytes as the caller likes.
///
/// One schedule serves every size: a layout says how the data at hand is cut into its chunks. Equal
/// and balanced layouts take no memory for each chunk.
class TUTTI_API Layout {
 public:
  /// `chunks` chunks of `size` each.
  [[nodiscard]] static Layout equal(std::uint64_t chunks, std::uint64_t size);
  /// `total` cut into `chunks` chunks whose sizes differ by one at most, the longer ones first.
  [[nodiscard]] static Layout balanced(std::uint64_t chunks, std::uint64_t total);
  /// Chunk i is sizes[i] long: the v-variants.
  [[nodiscard]] static Layout counted(const std::vector<std::uint64_t>& sizes);

  [[nodiscard]] std::uint64_t chunks() const { return chunks_; }
  [[nodiscard]] std::uint64_t total() const { return offset(Chunk{chunks_}); }
  /// Where the chunk begins when all chunks stand one after the other.
  /// Requires: chunk.index() ≤ chunks().
  [[nodiscard]] std::uint64_t offset(Chunk chunk) const;
  [[nodiscard]] std::uint64_t size(ChunkRange range) const {
    return offset(range.end()) - offset(range.first);
  }

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  Layout(std::uint64_t chunks, std::uint64_t size, std::uint64_t longer)
      : chunks_(chunks), size_(size), longer_(longer) {}

  std::uint64_t chunks_;
  std::uint64_t size_;                  // of each chunk, but for
  std::uint64_t longer_;                // the first so many, which are one longer.
  std::vector<std::uint64_t> offsets_;  // Counted layouts only: chunks + 1 sums.
};

/// How a schedule's chunks divide buffers of `size`, evenly. The size is that of the larger buffer
/// of a rank: all blocks of an allgather, reduce_scatter, scatter, gather or alltoall.
[[nodiscard]] TUTTI_API Layout even_layout(const Contract& contract, std::uint64_t size);

}  // namespace tutti
