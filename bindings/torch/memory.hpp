#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

namespace tutti_torch {

/// Allocates memory that the other ranks of this host can read in place: tuttiMemAlloc.
[[nodiscard]] std::shared_ptr<c10::Allocator> shared_memory_allocator();

/// A CPU tensor in such memory. In ordinary memory if the system has no shared memory.
[[nodiscard]] at::Tensor shared_tensor(int64_t elements, const at::TensorOptions& options);

/// Temporary buffers of one group. A buffer is used again when no call uses it any more, because
/// the first access to new memory costs more than the copy.
class Scratch {
 public:
  /// A contiguous CPU tensor, not initialised.
  [[nodiscard]] at::Tensor take(int64_t elements, c10::ScalarType type);

 private:
  std::mutex mutex_;
  std::vector<at::Tensor> buffers_;  // Of bytes. One is free if nothing else holds its storage.
};

}  // namespace tutti_torch
