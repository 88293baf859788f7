#include "sim/last_writers.hpp"

#include <algorithm>
#include <array>

namespace tutti {
namespace {

/// Larger tables would need too much memory.
constexpr std::uint64_t most_chunks = 1U << 24;

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
    begin_with_few();
  } else if (notes_.size() < contract.chunks) {
    notes_.resize(contract.chunks);
  }
}

void LastWriters::begin_with_few() {
  by_chunk_ = false;
  pieces_.assign(1, {.end = Chunk{std::numeric_limits<std::uint64_t>::max()}});
}

std::size_t LastWriters::piece_of(Chunk chunk) const {
  const auto found =
      std::upper_bound(pieces_.begin(), pieces_.end(), chunk,
                       [](Chunk before, const Piece& piece) { return before < piece.end; });
  return static_cast<std::size_t>(found - pieces_.begin());
}

/// Replaces the pieces from `first` to `last` by one piece; their parts outside the range stay.
void LastWriters::overwrite(std::size_t first, std::size_t last, const ChunkRange& range,
                            std::uint32_t writer) {
  const Chunk begin = first == 0 ? Chunk{0} : pieces_[first - 1].end;
  std::array<Piece, 2> made;
  std::size_t count = 0;
  if (begin < range.first) {
    made.at(count++) = {.end = range.first, .writer = pieces_[first].writer};
  }
  made.at(count++) = {.end = range.end(), .writer = writer};
  const bool last_goes = pieces_[last].end == range.end();
  const auto at = pieces_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto rest = pieces_.erase(at, at + static_cast<std::ptrdiff_t>(last - first) + last_goes);
  pieces_.insert(rest, made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace tutti
