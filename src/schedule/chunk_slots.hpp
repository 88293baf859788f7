#pragma once

#include <utility>
#include <vector>

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// Numbers the chunks that one rank ever holds or touches 0, 1, …, so that what is known of each
/// can stand in an array whose length is the rank's own business and not that of the whole
/// schedule: of an alltoall's p² chunks a rank sees 2p. Behind them it numbers the other variants
/// of chunks that the program names.
class ChunkSlots {
 public:
  /// Requires: every chunk of the program is below contract.chunks.
  ChunkSlots(const Program& program, const Contract& contract, Rank self);

  /// How many chunks there are.
  [[nodiscard]] std::size_t size() const { return dense_ ? dense_size_ : chunks_.size(); }
  /// Requires: the chunk is one of those numbered.
  [[nodiscard]] std::size_t operator[](Chunk chunk) const;

  /// With the other variants.
  [[nodiscard]] std::size_t total() const { return size() + variants_.size(); }
  /// Of a variant that is not the chunk itself, a number from size() on.
  /// Requires: the program names that variant of that chunk.
  [[nodiscard]] std::size_t slot(Chunk chunk, Variant variant) const {
    return variant == Variant{} ? (*this)[chunk] : size() + beside(chunk, variant);
  }

 private:
  [[nodiscard]] std::size_t beside(Chunk chunk, Variant variant) const;

  bool dense_;
  std::size_t dense_size_ = 0;
  std::vector<Chunk> chunks_;  // Sorted; not used when every chunk of the schedule has a slot.
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
