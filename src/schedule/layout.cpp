#include <algorithm>
#include <limits>
#include <string>

#include <tutti/error.hpp>
#include <tutti/schedule/layout.hpp>

namespace tutti {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void reject_overflow() {
  throw Error(ErrorCode::invalid_argument, "a layout's total must fit in 64 bits");
}

}  // namespace

Layout Layout::equal(std::uint64_t chunks, std::uint64_t size) {
  if (chunks != 0 && size > most / chunks) reject_overflow();
  return {chunks, size, 0};
}

Layout Layout::balanced(std::uint64_t chunks, std::uint64_t total) {
  if (chunks == 0) {
    throw Error(ErrorCode::invalid_argument, "a balanced layout needs at least one chunk");
  }
  return {chunks, total / chunks, total % chunks};
}

Layout Layout::counted(const std::vector<std::uint64_t>& sizes) {
  Layout layout(sizes.size(), 0, 0);
  layout.offsets_.reserve(sizes.size() + 1);
  std::uint64_t sum = 0;
  layout.offsets_.push_back(sum);
  for (const std::uint64_t size : sizes) {
    if (size > most - sum) reject_overflow();
    sum += size;
    layout.offsets_.push_back(sum);
  }
  return layout;
}

std::uint64_t Layout::offset(Chunk chunk) const {
  if (!offsets_.empty()) return offsets_[chunk.index()];
  return chunk.index() * size_ + std::min(chunk.index(), longer_);
}

Layout even_layout(const Contract& contract, std::uint64_t size) {
  if (contract.collective == Collective::barrier) return Layout::equal(contract.chunks, 0);
  if (contract.collective != Collective::alltoall) return Layout::balanced(contract.chunks, size);
  if (size > most / contract.ranks) reject_overflow();
  return Layout::balanced(contract.chunks, size * contract.ranks);
}

}  // namespace tutti
