#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include <tutti/reduction.hpp>

#include "kernels/fold.hpp"

namespace tutti {

/// How a plan reduces contributions.
struct Folding {
  Fold fold = nullptr;
  /// The caller's own function, used instead of `fold`; null if there is none.
  const Reduction::Combine* combine = nullptr;
  std::size_t element_bytes = 1;

  /// The number of elements in `bytes`. Without the division, which takes as long as the rest of a
  /// short fold.
  [[nodiscard]] std::size_t count(std::size_t bytes) const {
    // Without std::has_single_bit(), which is a call where the processor may not count bits.
    if ((element_bytes & (element_bytes - 1)) != 0) return bytes / element_bytes;
    return bytes >> std::countr_zero(element_bytes);
  }
};

/// Memory aligned for every element type.
struct alignas(64) CacheLine {
  std::byte bytes[64];
};

/// Copies and folds data in the memory that a plan runs on. All that an executor does with the data
/// itself goes through here.
class MemoryEngine {
 public:
  virtual ~MemoryEngine() = default;

  virtual void copy(std::byte* to, const void* from, std::size_t bytes) = 0;
  /// Folds the operands, from left to right, into `to`, which may be one of them, and writes the
  /// result to all of `copies` as well.
  virtual void fold(const Folding& folding, std::span<const void* const> operands, std::byte* to,
                    std::span<std::byte* const> copies, std::size_t bytes) = 0;
};

/// Memory that the CPU accesses: everything is done at once.
class CpuMemory final : public MemoryEngine {
 public:
  void copy(std::byte* to, const void* from, std::size_t bytes) override;
  void fold(const Folding& folding, std::span<const void* const> operands, std::byte* to,
            std::span<std::byte* const> copies, std::size_t bytes) override;

 private:
  void combine(const Folding& folding, std::span<const void* const> operands, std::byte* to,
               std::size_t bytes);

  std::vector<CacheLine> accumulator_;
  std::vector<const void*> rest_;  // Of the operands of a long fold.
};

}  // namespace tutti
