#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <tutti/export.hpp>

namespace tutti {

/// Allocates memory that the other ranks of this host can read, which saves copies in collectives.
/// It is zeroed, page-aligned and a whole number of pages. Throws unsupported if the system has no
/// shared memory.
[[nodiscard]] TUTTI_API void* allocate(std::size_t bytes);
/// Allocates such memory as malloc does: with any contents, which may be those of memory that was
/// freed before. It is page-aligned, and at most a quarter longer than `bytes` rounded up to pages.
/// Memory that is freed is kept for the next call of about that size, which then costs no system
/// call and no page fault.
[[nodiscard]] TUTTI_API void* allocate_uninitialized(std::size_t bytes);
/// Frees memory from both functions. Null is allowed. Throws invalid_argument for other memory.
/// Does nothing in a forked child for memory of its parent.
TUTTI_API void deallocate(void* memory);
/// The bytes that may be used at this address, at least as many as were asked for. 0 if it is not
/// from one of these functions.
[[nodiscard]] TUTTI_API std::size_t allocated_bytes(const void* memory);

/// Memory of this process that other ranks of the host can read and write.
struct MemoryUse {
  std::uint64_t in_use = 0;  ///< From allocate_uninitialized().
  std::uint64_t idle = 0;    ///< Freed, and kept: at most 2 GiB, or 1/16 of the host's memory.
  /// Buffers of calls in ordinary memory: see CommunicatorOptions::adopt.
  std::uint64_t adopted = 0;
};
[[nodiscard]] TUTTI_API MemoryUse memory_use();
/// Returns idle memory to the system until at most `keep` bytes are idle.
TUTTI_API void trim_memory(std::uint64_t keep = 0);

/// A forked child has a copy of shared memory that is in use, of at most so many bytes in total:
/// 256 MiB unless this is called. Of other blocks it sees what the parent writes later. Copying
/// takes 0.8 s for each GiB.
TUTTI_API void set_fork_copy(std::uint64_t most_bytes);

/// For containers. Elements are where allocate_uninitialized() puts them.
template <class T>
struct Allocator {
  using value_type = T;

  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as std's.

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(tutti::allocate_uninitialized(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t /*count*/) { tutti::deallocate(memory); }

  template <class U>
  friend bool operator==(const Allocator&, const Allocator<U>&) {
    return true;
  }
};

/// A vector that the other ranks of this host can read and write in place.
template <class T>
using Vector = std::vector<T, Allocator<T>>;

}  // namespace tutti
