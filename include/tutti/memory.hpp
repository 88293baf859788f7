#pragma once

#include <cstddef>
#include <new>

#include <tutti/export.hpp>

namespace tutti {

/// Allocates memory that the other ranks of this host can read, which saves copies in collectives.
/// It is zeroed, page-aligned and a whole number of pages. Throws unsupported if the system has no
/// shared memory.
[[nodiscard]] TUTTI_API void* allocate(std::size_t bytes);
/// Frees memory from allocate(). Null is allowed. Throws invalid_argument for other memory. Does
/// nothing in a forked child for memory of its parent.
TUTTI_API void deallocate(void* memory);

/// For containers: std::vector<float, tutti::Allocator<float>>.
template <class T>
struct Allocator {
  using value_type = T;

  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as std's.

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(tutti::allocate(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t /*count*/) { tutti::deallocate(memory); }

  template <class U>
  friend bool operator==(const Allocator&, const Allocator<U>&) {
    return true;
  }
};

}  // namespace tutti
