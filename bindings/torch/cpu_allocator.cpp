#include "cpu_allocator.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <tutti/tutti.h>

namespace tutti_torch {
namespace {

/// In the place of torch's CPU allocator. Never destroyed: tensors may outlive the interpreter.
class CpuAllocator final : public c10::Allocator {
 public:
  static CpuAllocator& only() {
    static auto* const allocator = new CpuAllocator(*c10::GetCPUAllocator());
    return *allocator;
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = nullptr;
    if (bytes < smallest.load(std::memory_order_relaxed) ||
        tuttiMemAllocUninitialized(&memory, bytes) != tuttiSuccess) {
      return former_.allocate(bytes);
    }
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, &free_any, c10::Device(c10::DeviceType::CPU)};
  }

  /// Frees the memory of every tensor, since users of raw_allocate() do not know whose it is.
  c10::DeleterFnPtr raw_deleter() const override {
    return former_.raw_deleter() == nullptr ? nullptr : &free_any;
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    former_.copy_data(to, from, bytes);
  }

  std::atomic<std::size_t> smallest{std::numeric_limits<std::size_t>::max()};

 private:
  explicit CpuAllocator(c10::Allocator& former) : former_(former) {}

  static void free_any(void* memory) {
    std::size_t bytes = 0;
    (void)tuttiMemSize(memory, &bytes);
    if (bytes == 0) {
      only().former_.raw_deleter()(memory);
    } else {
      c10::profiledCPUMemoryReporter().Delete(memory);
      (void)tuttiMemFree(memory);
    }
  }

  c10::Allocator& former_;
};

}  // namespace

void share_tensors_from(std::size_t smallest) {
  CpuAllocator& allocator = CpuAllocator::only();
  allocator.smallest = std::max<std::size_t>(smallest, 1);
  c10::SetCPUAllocator(&allocator);
}

void stop_sharing_tensors() {
  CpuAllocator::only().smallest = std::numeric_limits<std::size_t>::max();
}

}  // namespace tutti_torch
