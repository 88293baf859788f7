#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

/// An allocator that asks for huge pages: simulations access hundreds of megabytes in strides, and
/// small pages would cost many TLB misses.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert.

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new(bytes));
    const std::size_t rounded = (bytes + page - 1) / page * page;
    void* const memory = std::aligned_alloc(page, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, rounded, MADV_HUGEPAGE);  // Best effort.
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    count * sizeof(T) < page ? ::operator delete(memory) : std::free(memory);
  }

  /// Leaves new elements of a resized vector uninitialised: the caller fills them, on all cores if
  /// there are many.
  template <class U>
  void construct(U* /*memory*/) {
    static_assert(std::is_trivially_copyable_v<U>);
  }
  template <class U, class... Values>
  void construct(U* memory, Values&&... values) {
    ::new (static_cast<void*>(memory)) U(std::forward<Values>(values)...);
  }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace tutti
