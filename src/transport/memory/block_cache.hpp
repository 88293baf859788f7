#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fast_mutex.hpp"
#include "transport/memory/size_class.hpp"

namespace tutti {

class SharedHeap;

/// Blocks of a shared heap for programs that allocate and free the same sizes again and again. A
/// block that is released is kept as it is, with its pages, so that acquiring it again costs
/// neither a system call nor a page fault.
///
/// Blocks are whole pages: pages of a window are cut off from other processes one by one
/// (SharedHeap::make_private), which must not concern two blocks.
///
/// Thread-safe. In a forked child bytes_of() still works, and nothing else may be called. Allocates
/// nothing under its lock, since the program's malloc may take its blocks from here.
class BlockCache {
 public:
  struct Use {
    std::uint64_t in_use = 0;
    std::uint64_t idle = 0;
  };

  /// For the heap whose reserved addresses these are.
  BlockCache(SharedHeap& heap, const std::byte* base, std::uint64_t reserved);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// Page-aligned memory with any contents. Throws unsupported if there is none.
  [[nodiscard]] void* acquire(std::size_t bytes);
  /// Keeps the block, unless too much is kept: then the sizes that were not asked for lately go
  /// back to the heap. Throws invalid_argument if it is not in use.
  void release(void* memory);
  /// The length of the block in use or idle that begins here; 0 if there is none. Takes no lock.
  [[nodiscard]] std::uint64_t bytes_of(const void* memory) const;
  /// Whether an idle block begins here. Takes no lock.
  [[nodiscard]] bool is_idle(std::uint64_t offset) const;

  [[nodiscard]] Use use() const;
  /// Returns idle blocks to the system until at most `keep` bytes are idle.
  void trim(std::uint64_t keep);

 private:
  /// The idle blocks of a size. Their offsets are not kept in the blocks, where other processes
  /// could write.
  struct Shelf {
    std::vector<std::uint64_t> offsets;
    std::uint64_t last_use = 0;  // As counted by uses_.
  };
  /// Of the block that begins on a page: 0 if none does, or its size class and whether it is idle.
  using State = std::uint16_t;

  [[nodiscard]] static State state_of(SizeClass size, bool is_idle);
  [[nodiscard]] static SizeClass size_of(State state) { return SizeClass(state / 2U - 1); }
  [[nodiscard]] std::atomic<State>& state_at(std::uint64_t offset) const;
  [[nodiscard]] void* take_idle(SizeClass size);
  [[nodiscard]] void* allocate(SizeClass size);
  void make_room_on_shelf(SizeClass size);
  [[nodiscard]] std::size_t remove_idle(std::uint64_t keep, std::span<std::uint64_t> removed);

  SharedHeap& heap_;
  const std::byte* base_;
  std::uint64_t reserved_;
  std::uint64_t most_idle_;
  std::atomic<State>* states_ = nullptr;  // By page. Null if there is no address space for them.
  mutable FastMutex mutex_;               // Of all below. Not held while the heap is called.
  std::array<Shelf, SizeClass::count> shelves_;
  std::uint64_t uses_ = 0;
  Use use_;
};

}  // namespace tutti
