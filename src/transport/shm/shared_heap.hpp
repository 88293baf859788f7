#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "core/process_origin.hpp"

namespace tutti {

/// This process's memory that other processes of the host can read: one file without a name, mapped
/// here as a whole and by others as far as they need it. An offset in it means the same to all, as
/// long as this process lives.
///
/// A child that is forked can still read what stands in its parent's heap, but what it writes there
/// stays its own.
///
/// Thread-safe. Never torn down: memory that is still in use must not vanish at exit.
class SharedHeap {
 public:
  /// The heap of this process; a child after fork() gets one of its own.
  [[nodiscard]] static SharedHeap& own();

  /// At least a page, on a page's boundary, zeros. Throws unsupported if there is none to be had.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Its memory goes back to the system. Throws invalid_argument if allocate() has not returned it.
  /// In a child of the process that the heap belongs to it does nothing.
  void release(void* memory);
  /// Releases memory of this process's heap, or of that of a process it was forked from. Throws
  /// invalid_argument for any other.
  static void release_any(void* memory);

  /// Where these bytes stand in the file; none if they are not, as a whole, of this heap.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::span<const std::byte> data) const {
    const auto offset = static_cast<std::uint64_t>(data.data() - base_);
    const std::uint64_t end = size_.load(std::memory_order_acquire);
    if (offset >= end || data.size() > end - offset) return std::nullopt;
    return offset;
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  SharedHeap();
  ~SharedHeap();

  [[nodiscard]] bool contains(const void* memory) const;
  static void detach_from_parent();
  [[nodiscard]] std::uint64_t grow(std::uint64_t bytes);
  void add_free(std::uint64_t offset, std::uint64_t bytes);

  static std::atomic<SharedHeap*> newest;

  ProcessOrigin origin_{};
  SharedHeap* inherited_ = nullptr;  // That of the process that this one was forked from.
  bool is_copied_ = false;           // This process has a copy of it: its parent owns it.
  int fd_;
  std::byte* base_ = nullptr;
  std::uint64_t reserved_ = 0;
  std::atomic<std::uint64_t> size_{0};
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  // Offset → bytes; neighbours are merged.
  std::map<std::uint64_t, std::uint64_t> used_;
};

}  // namespace tutti
