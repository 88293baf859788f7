#include "api/call/scratch_memory.hpp"

#include <new>

#include <tutti/error.hpp>

#include "transport/memory/shared_heap.hpp"

namespace tutti {

std::shared_ptr<std::byte> scratch_memory(std::size_t bytes) {
  try {
    SharedHeap& heap = SharedHeap::own();
    return {static_cast<std::byte*>(heap.allocate(bytes)),
            [&heap](std::byte* memory) { heap.release(memory); }};
  } catch (const Error&) {
    constexpr std::align_val_t page{4096};
    return {static_cast<std::byte*>(::operator new(bytes, page)),
            [](std::byte* memory) { ::operator delete (memory, std::align_val_t{4096}); }};
  }
}

}  // namespace tutti
