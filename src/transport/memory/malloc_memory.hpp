#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/memory/memory_map.hpp"

namespace tutti {

/// What the C library's malloc does with the pages of memory that it has handed out, once the
/// memory is freed.
enum class MallocMemory : std::uint8_t {
  other,    ///< Not known, or not malloc's. Other allocators may expect zeros after MADV_DONTNEED.
  mapping,  ///< It was mapped for one request alone, and is unmapped.
  heap,     ///< Between the start of the heap and the break: reused, or unmapped with brk().
};

/// Which of these all of the bytes are. Recognised by the headers that malloc keeps in front of
/// blocks with a mapping of their own, and by the break; other arenas than the main one keep
/// freed pages and expect zeros. `other` if in doubt. Pages of malloc may have been replaced by
/// pages of the file `adopted`.
[[nodiscard]] MallocMemory malloc_memory(std::span<const std::byte> memory, const MemoryMap& map,
                                         const MemoryMap::File& adopted);

}  // namespace tutti
