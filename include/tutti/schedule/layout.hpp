#pragma once

#include <cstdint>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/chunk.hpp>
#include <tutti/schedule/contract.hpp>

namespace tutti {

/// The length of each chunk, in elements or in bytes: the caller decides.
///
/// One schedule serves every size: the layout divides the data of a call into its chunks. Equal and
/// balanced layouts need no memory per chunk.
class TUTTI_API Layout {
 public:
  /// `chunks` chunks of `size` each.
  [[nodiscard]] static Layout equal(std::uint64_t chunks, std::uint64_t size);
  /// Divides `total` into `chunks` chunks whose sizes differ by at most one, longer ones first.
  [[nodiscard]] static Layout balanced(std::uint64_t chunks, std::uint64_t total);
  /// Chunk i has length sizes[i]. For the v-variants.
  [[nodiscard]] static Layout counted(const std::vector<std::uint64_t>& sizes);

  [[nodiscard]] std::uint64_t chunks() const { return chunks_; }
  [[nodiscard]] std::uint64_t total() const { return offset(Chunk{chunks_}); }
  /// The offset of the chunk when all chunks are stored consecutively.
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
  std::uint64_t size_;  // Of each chunk; the first longer_ chunks have one more.
  std::uint64_t longer_;
  std::vector<std::uint64_t> offsets_;  // Counted layouts only: chunks + 1 prefix sums.
};

/// Divides buffers of `size` evenly into the chunks of a schedule. The size is that of the larger
/// buffer of a rank: all blocks of an allgather, reduce_scatter, scatter, gather or alltoall.
[[nodiscard]] TUTTI_API Layout even_layout(const Contract& contract, std::uint64_t size);

}  // namespace tutti
