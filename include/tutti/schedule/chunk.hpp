#pragma once

#include <cstdint>

#include <tutti/id.hpp>

namespace tutti {

/// A numbered piece of the data. A chunk has the same number on every rank.
using Chunk = Id<struct ChunkTag, std::uint64_t>;

/// One of several values that a rank keeps of the same chunk. Variant 0 is the chunk itself: it
/// starts as the rank's input and ends as its output. The others start empty and hold data in
/// transit, such as another rank's partial sum next to the rank's own.
using Variant = Id<struct VariantTag, std::uint16_t>;

/// Consecutive chunks: first, first + 1, … (`count` of them).
struct ChunkRange {
  Chunk first;
  std::uint64_t count = 1;

  constexpr ChunkRange() = default;
  /// A single chunk is a range of one.
  constexpr ChunkRange(Chunk chunk) : first(chunk) {}  // NOLINT(google-explicit-constructor)
  constexpr ChunkRange(Chunk first_chunk, std::uint64_t how_many)
      : first(first_chunk), count(how_many) {}

  /// One past the last chunk.
  [[nodiscard]] constexpr Chunk end() const { return Chunk{first.index() + count}; }

  friend constexpr bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

/// Chunks at a constant distance: first, first + stride, … (`count` of them).
struct ChunkSeries {
  Chunk first;
  std::uint64_t count = 0;
  std::uint64_t stride = 1;

  [[nodiscard]] constexpr Chunk operator[](std::uint64_t i) const {
    return Chunk{first.index() + i * stride};
  }
  [[nodiscard]] constexpr bool contains(Chunk chunk) const {
    if (chunk < first) return false;
    const std::uint64_t distance = chunk.index() - first.index();
    return distance % stride == 0 && distance / stride < count;
  }

  friend constexpr bool operator==(const ChunkSeries&, const ChunkSeries&) = default;
};

}  // namespace tutti
