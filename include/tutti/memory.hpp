#pragma once

#include <cstddef>
#include <new>

#include <tutti/export.hpp>

namespace tutti {

/// Memory that the other ranks of this host can read: collectives on it copy nothing needlessly.
/// It is the caller's like any other memory, begins as zeros on a page's boundary, and comes in
/// whole pages. Throws unsupported if the system has none.
[[nodiscard]] TUTTI_API void* allocate(std::size_t bytes);
/// Gives it back. Null is fine. Throws invalid_argument for memory from elsewhere. In a forked
/// child, memory of its parent's is left alone.
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
