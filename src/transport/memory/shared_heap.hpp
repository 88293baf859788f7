#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "core/process_origin.hpp"
#include "transport/memory/adopted_memory.hpp"
#include "transport/memory/block_cache.hpp"
#include "transport/memory/heap_snapshot.hpp"

namespace tutti {

/// Memory of this process that other processes of the host can access: one file without a name,
/// mapped as a whole here and in windows by other processes. An offset in it is valid in all of
/// them as long as this process lives.
///
/// A forked child has a copy of its parent's heap, as of other memory, with one exception: what is
/// beyond the limit of HeapSnapshot shows what the parent writes there, until the child writes to
/// the page itself.
///
/// Thread-safe. Never destroyed: memory that is still in use must not vanish at exit.
class SharedHeap {
 public:
  /// The heap of this process. A forked child gets its own.
  [[nodiscard]] static SharedHeap& own();

  /// Allocates zeroed, page-aligned memory of at least a page. Throws unsupported if there is none.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Returns the memory to the system. Throws invalid_argument if it is not from allocate(). Does
  /// nothing in a forked child of the process that owns the heap.
  void release(void* memory);
  /// Releases memory of this process's heap, or of the heap of a process that it was forked from;
  /// also blocks of its cache. Throws invalid_argument for other memory.
  static void release_any(void* memory);
  /// The length of the block that begins here, in these heaps and their caches; 0 for other memory.
  [[nodiscard]] static std::uint64_t bytes_of(const void* memory);
  /// How many bytes a forked child has a copy of.
  static void copy_at_fork(std::uint64_t most_bytes) {
    most_copied.store(most_bytes, std::memory_order_relaxed);
  }
  [[nodiscard]] BlockCache& cache() { return cache_; }
  [[nodiscard]] AdoptedMemory& adopted() { return adopted_; }

  /// The offset of these bytes in the file; none unless all of them are in this heap.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::span<const std::byte> data) const {
    const auto offset = static_cast<std::uint64_t>(data.data() - base_);
    const std::uint64_t end = size_.load(std::memory_order_acquire);
    if (offset >= end || data.size() > end - offset) return std::nullopt;
    if (has_private_.load(std::memory_order_acquire) && overlaps_private(offset, data.size())) {
      return std::nullopt;
    }
    return offset;
  }
  [[nodiscard]] std::byte* at(std::uint64_t offset) const { return base_ + offset; }
  /// True for all addresses that the heap has reserved.
  [[nodiscard]] bool contains(const void* memory) const;

  /// Cuts the pages of `data` off from other processes: what these write there from now on is not
  /// seen here, nor in memory that is allocated later. The memory keeps its contents and address
  /// until it is released. False if the system has no memory for the copy.
  [[nodiscard]] bool make_private(std::span<std::byte> data);
  [[nodiscard]] int fd() const { return fd_; }
  /// The inode of the file: a process that opens it by the descriptor can check that it is this
  /// one.
  [[nodiscard]] std::uint64_t file() const { return file_; }
  /// Of the file, as st_dev.
  [[nodiscard]] std::uint64_t device() const { return device_; }

 private:
  SharedHeap();
  ~SharedHeap();

  [[nodiscard]] static SharedHeap* containing(const void* memory);
  static void begin_fork();
  static void end_fork();
  static void detach_from_parent();
  [[nodiscard]] std::optional<HeapSnapshot> snapshot() const;
  [[nodiscard]] std::uint64_t grow(std::uint64_t bytes);
  [[nodiscard]] bool overlaps_private(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] bool abandon_private(std::uint64_t offset, std::uint64_t bytes);
  void add_free(std::uint64_t offset, std::uint64_t bytes);

  static std::atomic<SharedHeap*> newest;
  static std::atomic<std::uint64_t> most_copied;

  ProcessOrigin origin_{};
  SharedHeap* inherited_ = nullptr;  // The heap of the process that this one was forked from.
  bool is_copied_ = false;           // This is a private copy of the parent's heap.
  int fd_;
  std::uint64_t file_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t reserved_ = 0;
  std::byte* base_ = nullptr;
  std::atomic<std::uint64_t> size_{0};
  mutable std::mutex mutex_;
  bool is_forking_ = false;                      // A thread that forks holds the mutex.
  std::optional<HeapSnapshot> snapshot_;         // For the child, while a thread forks.
  std::map<std::uint64_t, std::uint64_t> free_;  // Offset → bytes. Adjacent blocks are merged.
  std::map<std::uint64_t, std::uint64_t> used_;
  std::map<std::uint64_t, std::uint64_t> private_;  // Pages that are cut off, likewise.
  std::atomic<bool> has_private_{false};
  BlockCache cache_;
  AdoptedMemory adopted_;
};

}  // namespace tutti
