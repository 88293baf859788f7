#include "exec/memory_engine.hpp"

#include <algorithm>
#include <cstring>

#include "core/short_copy.hpp"

namespace tutti {

void CpuMemory::copy(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes <= longest_short_copy) {
    short_copy(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

void CpuMemory::fold(const Folding& folding, std::span<const void* const> operands, std::byte* to,
                     std::span<std::byte* const> copies, std::size_t bytes) {
  if (folding.combine != nullptr) {
    combine(folding, operands, to, bytes);
    for (std::byte* const each : copies) copy(each, to, bytes);
    return;
  }
  if (copies.empty()) {
    return folding.fold(to, nullptr, operands.data(), operands.size(), folding.count(bytes));
  }
  // Stores to a copy miss the cache. A short result is computed first, so that the loads of the
  // operands do not wait for these stores. A long one is written together with a single copy, and
  // with several block by block.
  constexpr std::size_t block_bytes = std::size_t{1} << 14;
  if (bytes <= block_bytes) {
    folding.fold(to, nullptr, operands.data(), operands.size(), folding.count(bytes));
    for (std::byte* const each : copies) std::memcpy(each, to, bytes);
    return;
  }
  if (copies.size() == 1) {
    return folding.fold(to, copies.front(), operands.data(), operands.size(), folding.count(bytes));
  }
  rest_.assign(operands.begin(), operands.end());
  const std::size_t block = folding.count(block_bytes) * folding.element_bytes;
  for (std::size_t at = 0; at < bytes; at += block) {
    const std::size_t some = std::min(block, bytes - at);
    folding.fold(to + at, nullptr, rest_.data(), rest_.size(), folding.count(some));
    for (std::byte* const each : copies) std::memcpy(each + at, to + at, some);
    for (const void*& operand : rest_) operand = static_cast<const std::byte*>(operand) + some;
  }
}

/// By the caller's function. If `to` is a later operand, it must not be overwritten before it is
/// read.
void CpuMemory::combine(const Folding& folding, std::span<const void* const> operands,
                        std::byte* to, std::size_t bytes) {
  const bool overwrites = std::find(operands.begin() + 1, operands.end(), to) != operands.end();
  const std::size_t lines = (bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine);
  if (overwrites && accumulator_.size() < lines) accumulator_.resize(lines);
  std::byte* const sum = overwrites ? accumulator_.front().bytes : to;
  if (operands.front() != sum) std::memcpy(sum, operands.front(), bytes);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    (*folding.combine)(sum, operands[i], folding.count(bytes));
  }
  if (overwrites) std::memcpy(to, sum, bytes);
}

}  // namespace tutti
