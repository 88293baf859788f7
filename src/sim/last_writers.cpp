#include "sim/last_writers.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// More memory than this for notes on chunks would not stay in any cache.
constexpr std::uint64_t most_chunks = 1U << 20;

}  // namespace

void LastWriters::begin(const Program& program, const Contract& contract) {
  ++program_;
  std::uint64_t ranges = 0;
  std::uint64_t chunks = 0;
  for (const Step step : program) {
    ranges += step.chunks.size();
    chunks += step.chunk_count();
  }
  by_chunk_ = contract.chunks <= most_chunks && chunks <= 4 * ranges;
  if (!by_chunk_) {
    borders_.clear();
    for (const Step step : program) {
      for (const ChunkRange& range : step.chunks) {
        borders_.push_back(range.first);
        borders_.push_back(range.end());
      }
    }
    std::sort(borders_.begin(), borders_.end());
    borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
  }
  const std::size_t size = by_chunk_ ? contract.chunks : borders_.size();
  if (notes_.size() < size) notes_.resize(size);
}

std::size_t LastWriters::place(Chunk chunk) const {
  if (by_chunk_) return chunk.index();
  return static_cast<std::size_t>(std::lower_bound(borders_.begin(), borders_.end(), chunk) -
                                  borders_.begin());
}

}  // namespace tutti
