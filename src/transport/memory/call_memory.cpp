#include "transport/memory/call_memory.hpp"

#include <utility>

#include "transport/memory/shared_heap.hpp"

namespace tutti {

void CallMemory::enter(std::span<std::byte> input, std::span<std::byte> output) {
  leave();
  SharedHeap& heap = SharedHeap::own();
  // The smaller buffer may be a part of the larger one.
  if (input.size() > output.size()) std::swap(input, output);
  if (!output.empty() && !heap.contains(output.data())) holds_[0] = heap.adopted().hold(output);
  const AdoptedMemory::Buffer* const larger = holds_[0].buffer();
  if (input.empty() || heap.contains(input.data())) return;
  if (larger == nullptr || !larger->contains(input)) holds_[1] = heap.adopted().hold(input);
}

}  // namespace tutti
