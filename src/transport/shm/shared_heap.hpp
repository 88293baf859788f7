#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

namespace tutti {

/// This process's memory that other processes of the host can read: one file without a name, mapped
/// here as a whole and by others as far as they need it. An offset in it means the same to all, as
/// long as this process lives.
///
/// Thread-safe. Never torn down: memory that is still in use must not vanish at exit.
class SharedHeap {
 public:
  /// The heap of this process; a child after fork() gets one of its own.
  [[nodiscard]] static SharedHeap& own();

  /// At least a page, on a page's boundary, zeros. Throws unsupported if there is none to be had.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Requires: allocate() returned it. Its memory goes back to the system.
  void release(void* memory);

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

  [[nodiscard]] std::uint64_t grow(std::uint64_t bytes);
  void add_free(std::uint64_t offset, std::uint64_t bytes);

  pid_t owner_;
  int fd_;
  std::byte* base_ = nullptr;
  std::uint64_t reserved_ = 0;
  std::atomic<std::uint64_t> size_{0};
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  // Offset → bytes; neighbours are merged.
  std::map<std::uint64_t, std::uint64_t> used_;
};

}  // namespace tutti
