#include <tutti/memory.hpp>

#include "transport/memory/shared_heap.hpp"

namespace tutti {

void* allocate(std::size_t bytes) { return SharedHeap::own().allocate(bytes); }

void deallocate(void* memory) {
  if (memory != nullptr) SharedHeap::release_any(memory);
}

}  // namespace tutti
