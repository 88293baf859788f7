#include "schedule/chunk_slots.hpp"

#include <algorithm>

namespace tutti {

ChunkSlots::ChunkSlots(const Program& program, const Contract& contract, Rank self) {
  const ChunkSeries input = contract.input(self);
  const ChunkSeries output = contract.output(self);
  std::uint64_t touched = input.count + output.count;
  for (const Step step : program) touched += step.chunk_count();

  // Numbering all chunks costs no more than the rank's own touches of them.
  dense_ = touched >= contract.chunks / 2;
  if (dense_) {
    dense_size_ = contract.chunks;
    return;
  }
  chunks_.reserve(touched);
  for (const ChunkSeries& series : {input, output}) {
    for (std::uint64_t i = 0; i < series.count; ++i) chunks_.push_back(series[i]);
  }
  for (const Step step : program) {
    for (const ChunkRange& range : step.chunks) {
      for (std::uint64_t i = 0; i < range.count; ++i) chunks_.emplace_back(range.first.index() + i);
    }
  }
  std::sort(chunks_.begin(), chunks_.end());
  chunks_.erase(std::unique(chunks_.begin(), chunks_.end()), chunks_.end());
}

std::size_t ChunkSlots::operator[](Chunk chunk) const {
  if (dense_) return chunk.index();
  return static_cast<std::size_t>(std::lower_bound(chunks_.begin(), chunks_.end(), chunk) -
                                  chunks_.begin());
}

}  // namespace tutti
