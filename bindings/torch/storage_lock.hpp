#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace tutti_torch {

/// Keeps the memory of tensors valid while a call uses it: holds their storages, and makes them not
/// resizable. A program that resizes one meanwhile gets an error from torch at that line.
class StorageLock {
 public:
  StorageLock() = default;
  explicit StorageLock(const std::vector<at::Tensor>& tensors);
  StorageLock(StorageLock&& other) noexcept = default;
  StorageLock& operator=(StorageLock&& other) noexcept;
  ~StorageLock();

 private:
  void release() noexcept;

  std::vector<c10::Storage> storages_;
};

}  // namespace tutti_torch
