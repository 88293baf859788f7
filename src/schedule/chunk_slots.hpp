#pragma once

#include <utility>
#include <vector>

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// Numbers the chunks that one rank holds or touches 0, 1, …, so that per-chunk data fits in an
/// array whose size depends on the rank and not on the whole schedule: of the p² chunks of an
/// alltoall a rank sees 2p. After the chunks it numbers the other variants of chunks that the
/// program names.
class ChunkSlots {
 public:
  /// Requires: every chunk of the program is below contract.chunks.
  ChunkSlots(const Program& program, const Contract& contract, Rank self);

  /// The number of chunks.
  [[nodiscard]] std::size_t size() const { return dense_ ? dense_size_ : chunks_.size(); }
  /// The slot of variant 0. Requires: the chunk has a slot.
  [[nodiscard]] std::size_t operator[](Chunk chunk) const;

  /// The number of slots, including those of other variants.
  [[nodiscard]] std::size_t total() const { return size() + variants_.size(); }
  /// The slot of a variant; for variants other than 0, a number from size() on. Requires: the
  /// program names that variant of that chunk.
  [[nodiscard]] std::size_t slot(Chunk chunk, Variant variant) const {
    return variant == Variant{} ? (*this)[chunk] : size() + beside(chunk, variant);
  }

 private:
  [[nodiscard]] std::size_t beside(Chunk chunk, Variant variant) const;

  bool dense_;
  std::size_t dense_size_ = 0;
  std::vector<Chunk> chunks_;  // Sorted; empty if every chunk of the schedule has a slot.
  std::vector<std::pair<Chunk, Variant>> variants_;  // Sorted; without variant 0.
};

/// Calls f(chunk) for each chunk of the step, in order.
template <class F>
void for_each_chunk(const Step& step, F f) {
  for (const ChunkRange& range : step.chunks) {
    for (std::uint64_t i = 0; i < range.count; ++i) f(Chunk{range.first.index() + i});
  }
}

}  // namespace tutti
