#include "host_tensor.hpp"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "failure.hpp"

namespace tutti_torch {
namespace {

/// tutti refuses null; an empty tensor may have no memory.
void* pointer_of(const at::Tensor& tensor) {
  static char nothing = 0;
  void* const data = tensor.defined() && tensor.numel() > 0 ? tensor.data_ptr() : nullptr;
  return data == nullptr ? &nothing : data;
}

bool is_usable(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

bool are_adjacent(const std::vector<at::Tensor>& tensors) {
  const char* end = nullptr;
  const c10::StorageImpl* storage = nullptr;
  for (const at::Tensor& each : tensors) {
    if (!is_usable(each) || each.numel() == 0) return false;
    const auto* const data = static_cast<const char*>(each.data_ptr());
    if (end != nullptr && (data != end || each.storage().unsafeGetStorageImpl() != storage)) {
      return false;
    }
    end = data + each.nbytes();
    storage = each.storage().unsafeGetStorageImpl();
  }
  return end != nullptr;
}

}  // namespace

void check_tensor(const at::Tensor& tensor, std::string_view call) {
  if (!tensor.defined()) refuse(call, "a tensor is undefined");
  if (tensor.layout() != at::kStrided) {
    refuse(call, std::string("a tensor has the layout ") + c10::str(tensor.layout()) +
                     "; only dense tensors are supported here: call to_dense() first");
  }
  if (tensor.is_meta()) refuse(call, "a tensor is on the device meta, which has no memory");
  if (tensor.is_quantized()) {
    refuse(call, "a tensor is quantized: pass its integers (int_repr()) and scales");
  }
}

void check_output(const at::Tensor& tensor, std::string_view call) {
  check_tensor(tensor, call);
  if (at::has_internal_overlap(tensor) == at::MemOverlap::Yes) {
    refuse(call,
           "elements of a result tensor share memory, as after expand(): call contiguous() "
           "first");
  }
}

void check_result(const at::Tensor& tensor, std::string_view call) {
  check_output(tensor, call);
  refuse_leaf(tensor, call);
}

void refuse_leaf(const at::Tensor& tensor, std::string_view call) {
  if (!at::GradMode::is_enabled() || !tensor.requires_grad()) return;
  const bool is_view = tensor.is_view() && tensor._base().is_leaf();
  if (!is_view && !tensor.is_leaf()) return;
  TORCH_CHECK(
      false, "tutti ", call, ": ", is_view ? "a view of " : "",
      "a leaf Variable that requires grad is being used in an in-place operation: call this "
      "under torch.no_grad(), or pass detach()");
}

void check_types(const std::vector<at::Tensor>& tensors, std::string_view call) {
  for (const at::Tensor& each : tensors) {
    if (each.scalar_type() == tensors.front().scalar_type()) continue;
    refuse(call, std::string("tensors have different types: ") +
                     c10::toString(tensors.front().scalar_type()) + " and " +
                     c10::toString(each.scalar_type()));
  }
}

const at::Tensor& only_one(const std::vector<at::Tensor>& tensors, const char* call) {
  if (tensors.size() != 1) {
    refuse(call, "one tensor per rank is expected, not " + std::to_string(tensors.size()));
  }
  return tensors.front();
}

void await_devices(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& each : tensors) {
    if (!each.defined() || each.is_cpu()) continue;
    const c10::impl::VirtualGuardImpl device(each.device().type());
    device.getStream(each.device()).synchronize();
  }
}

// HostTensor ----------------------------------------------------------------------------------

HostTensor HostTensor::writing(const at::Tensor& tensor, Scratch& scratch) {
  if (is_usable(tensor)) return {tensor, tensor, false};
  return {tensor, scratch.take(tensor.numel(), tensor.scalar_type()).view(tensor.sizes()), true};
}

HostTensor HostTensor::reading(const at::Tensor& tensor, Scratch& scratch) {
  const at::NoGradGuard no_grad;  // Else a buffer would remember where its elements came from.
  HostTensor made = writing(tensor, scratch);
  if (made.is_copy_) made.host_.copy_(tensor);
  return made;
}

void* HostTensor::data() const { return pointer_of(host_); }

void HostTensor::store() {
  if (is_copy_) tensor_.copy_(host_);
}

// HostBlocks ----------------------------------------------------------------------------------

HostBlocks::HostBlocks(const std::vector<at::Tensor>& tensors, Scratch& scratch)
    : tensors_(tensors), is_copy_(!are_adjacent(tensors)) {
  int64_t total = 0;
  for (const at::Tensor& each : tensors) {
    counts_.push_back(static_cast<std::size_t>(each.numel()));
    total += each.numel();
  }
  if (tensors.empty()) return;
  const at::Tensor& first = tensors.front();
  host_ = is_copy_ ? scratch.take(total, first.scalar_type())
                   : first.detach().as_strided({total}, {1}, first.storage_offset());
}

HostBlocks HostBlocks::writing(const std::vector<at::Tensor>& tensors, Scratch& scratch) {
  return HostBlocks(tensors, scratch);
}

HostBlocks HostBlocks::reading(const std::vector<at::Tensor>& tensors, Scratch& scratch) {
  const at::NoGradGuard no_grad;
  HostBlocks made(tensors, scratch);
  if (!made.is_copy_) return made;
  int64_t offset = 0;
  for (const at::Tensor& each : tensors) {
    made.host_.narrow(0, offset, each.numel()).view(each.sizes()).copy_(each);
    offset += each.numel();
  }
  return made;
}

void* HostBlocks::data() const { return pointer_of(host_); }

bool HostBlocks::are_equal() const {
  return std::all_of(counts_.begin(), counts_.end(),
                     [&](std::size_t each) { return each == counts_.front(); });
}

void HostBlocks::store() {
  if (!is_copy_) return;
  int64_t offset = 0;
  for (const at::Tensor& each : tensors_) {
    each.copy_(host_.narrow(0, offset, each.numel()).view(each.sizes()));
    offset += each.numel();
  }
}

}  // namespace tutti_torch
