#include "memory.hpp"

#include <algorithm>

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <tutti/tutti.h>

#include "failure.hpp"

namespace tutti_torch {
namespace {

void free_shared(void* memory) { (void)tuttiMemFree(memory); }

class SharedMemoryAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* memory = nullptr;
    if (bytes > 0) require_success(tuttiMemAlloc(&memory, bytes), "allocate");
    return {memory, memory, &free_shared, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_shared; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

constexpr std::size_t smallest_buffer = 64 * 1024;
constexpr std::size_t most_buffers = 4;

}  // namespace

std::shared_ptr<c10::Allocator> shared_memory_allocator() {
  static const auto allocator = std::make_shared<SharedMemoryAllocator>();
  return allocator;
}

at::Tensor shared_tensor(int64_t elements, const at::TensorOptions& options) {
  const c10::ScalarType type = c10::typeMetaToScalarType(options.dtype());
  const std::size_t bytes = static_cast<std::size_t>(elements) * c10::elementSize(type);
  void* memory = nullptr;
  if (bytes == 0 || tuttiMemAlloc(&memory, bytes) != tuttiSuccess) {
    return at::empty({elements}, options);
  }
  return at::from_blob(memory, {elements}, &free_shared, options);
}

at::Tensor Scratch::take(int64_t elements, c10::ScalarType type) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * c10::elementSize(type);
  const auto options = at::TensorOptions(at::kByte);
  // A tensor made in inference mode cannot be written outside of it, where the next call may be.
  const c10::InferenceMode normal(false);
  const std::lock_guard lock(mutex_);
  at::Tensor* free = nullptr;
  for (at::Tensor& each : buffers_) {
    if (each.storage().use_count() > 1) continue;
    if (free == nullptr || each.numel() > free->numel()) free = &each;
  }
  at::Tensor buffer;
  if (free != nullptr && static_cast<std::size_t>(free->numel()) >= bytes) {
    buffer = *free;
  } else {
    std::size_t rounded = smallest_buffer;
    while (rounded < bytes) rounded *= 2;
    buffer = shared_tensor(static_cast<int64_t>(rounded), options);
    if (free != nullptr) {
      *free = buffer;
    } else if (buffers_.size() < most_buffers) {
      buffers_.push_back(buffer);
    }
  }
  return buffer.narrow(0, 0, static_cast<int64_t>(bytes)).view(type);
}

}  // namespace tutti_torch
