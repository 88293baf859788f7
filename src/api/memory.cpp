#include <tutti/memory.hpp>

#include "transport/memory/shared_heap.hpp"

namespace tutti {

void* allocate(std::size_t bytes) { return SharedHeap::own().allocate(bytes); }

void* allocate_uninitialized(std::size_t bytes) { return SharedHeap::own().cache().acquire(bytes); }

void deallocate(void* memory) {
  if (memory != nullptr) SharedHeap::release_any(memory);
}

std::size_t allocated_bytes(const void* memory) { return SharedHeap::bytes_of(memory); }

MemoryUse memory_use() {
  SharedHeap& heap = SharedHeap::own();
  const BlockCache::Use use = heap.cache().use();
  return {.in_use = use.in_use, .idle = use.idle, .adopted = heap.adopted().bytes()};
}

void set_fork_copy(std::uint64_t most_bytes) { SharedHeap::copy_at_fork(most_bytes); }

void trim_memory(std::uint64_t keep) {
  SharedHeap& heap = SharedHeap::own();
  heap.adopted().reclaim();
  heap.cache().trim(keep);
}

}  // namespace tutti
