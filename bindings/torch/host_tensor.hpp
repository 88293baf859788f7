#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "memory.hpp"

namespace tutti_torch {

/// Throws ValueError unless the tensor is a dense tensor on a device that has memory.
void check_tensor(const at::Tensor& tensor, std::string_view call);
/// The same for one that the call writes: its elements must not share memory.
void check_output(const at::Tensor& tensor, std::string_view call);
/// The same for one to which the result is copied. Throws RuntimeError for a leaf that requires
/// grad, or a view of one, while gradients are recorded. So do the calls of gloo that copy; those
/// that write into the memory of the tensor itself accept it, and programs rely on that.
void check_result(const at::Tensor& tensor, std::string_view call);
/// The last part of it alone: for sparse tensors.
void refuse_leaf(const at::Tensor& tensor, std::string_view call);
/// Throws ValueError unless all have the type of the first.
void check_types(const std::vector<at::Tensor>& tensors, std::string_view call);

/// The tensor of a list that has one. Throws ValueError if it has more or none.
[[nodiscard]] const at::Tensor& only_one(const std::vector<at::Tensor>& tensors, const char* call);

/// Waits until the devices have done what the calling thread has queued for these tensors. The lane
/// may then copy them in another stream.
void await_devices(const std::vector<at::Tensor>& tensors);

/// A tensor as contiguous host memory: the tensor itself, or a copy. tutti moves contiguous memory
/// only, and the strides of a tensor may differ between ranks.
class HostTensor {
 public:
  HostTensor() = default;
  /// For a call that reads the tensor: a copy holds its elements.
  [[nodiscard]] static HostTensor reading(const at::Tensor& tensor, Scratch& scratch);
  /// For a call that writes all of it.
  [[nodiscard]] static HostTensor writing(const at::Tensor& tensor, Scratch& scratch);

  [[nodiscard]] void* data() const;
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(host_.numel()); }
  [[nodiscard]] const at::Tensor& host() const { return host_; }
  [[nodiscard]] bool is_copy() const { return is_copy_; }

  /// Copies the result to the tensor, if this is a copy.
  void store();

 private:
  HostTensor(const at::Tensor& tensor, at::Tensor host, bool is_copy)
      : tensor_(tensor), host_(std::move(host)), is_copy_(is_copy) {}

  at::Tensor tensor_;
  at::Tensor host_;
  bool is_copy_ = false;
};

/// Several tensors of one type as one contiguous block: their own memory if they are adjacent, as
/// the chunks of a tensor are, or a copy.
class HostBlocks {
 public:
  HostBlocks() = default;
  [[nodiscard]] static HostBlocks reading(const std::vector<at::Tensor>& tensors, Scratch& scratch);
  [[nodiscard]] static HostBlocks writing(const std::vector<at::Tensor>& tensors, Scratch& scratch);

  [[nodiscard]] void* data() const;
  [[nodiscard]] const at::Tensor& host() const { return host_; }
  /// The number of elements of each tensor.
  [[nodiscard]] const std::vector<std::size_t>& counts() const { return counts_; }
  /// True if all have the same number of elements.
  [[nodiscard]] bool are_equal() const;

  void store();

 private:
  explicit HostBlocks(const std::vector<at::Tensor>& tensors, Scratch& scratch);

  std::vector<at::Tensor> tensors_;
  std::vector<std::size_t> counts_;
  at::Tensor host_;
  bool is_copy_ = false;
};

}  // namespace tutti_torch
