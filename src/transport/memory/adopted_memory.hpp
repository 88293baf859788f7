#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/memory/malloc_memory.hpp"
#include "transport/memory/memory_map.hpp"
#include "transport/memory/pages.hpp"

namespace tutti {

class HeapSnapshot;
class SharedHeap;

/// Ordinary memory of the program that other processes of the host can reach: buffers that were
/// used in several calls are moved to pages of the shared heap's file, at their own addresses.
///
/// The program may free such a buffer at any time, and get other memory at the same address. So the
/// kernel is asked before each use whether the pages are still those of the file. Only whole pages
/// are moved: the other bytes of the first and the last page may belong to others. Peers find those
/// of the buffer in a mirror, which is kept where the pages of the file would continue.
///
/// Only memory of the C library's malloc is adopted: see MallocMemory. What it frees in its heap,
/// it uses for anything else, with bookkeeping in between.
///
/// Thread-safe.
class AdoptedMemory {
 public:
  /// A buffer, as a call has named it when it was adopted.
  struct Buffer {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::uint64_t offset = 0;     ///< In the file, of the page in which it begins.
    std::byte* mirror = nullptr;  ///< The same place of the file in the heap of this process.
    MallocMemory kind = MallocMemory::other;
    std::uint32_t needed = 0;  ///< As in Candidate, when it was adopted.
    std::uint32_t holds = 0;

    [[nodiscard]] bool contains(std::span<const std::byte> data) const {
      return data.data() >= begin && data.data() + data.size() <= begin + bytes;
    }
    /// The pages that were moved.
    [[nodiscard]] std::span<std::byte> moved() const { return pages_within({begin, bytes}); }
    /// The place in the file of these bytes of the buffer, which peers are about to read or write.
    [[nodiscard]] std::uint64_t publish(std::span<const std::byte> data) const;
    /// The bytes at this place of the file, which a peer has written; null if they are not part of
    /// the buffer.
    [[nodiscard]] std::byte* fetch(std::uint64_t where, std::size_t length) const;
  };

  /// Keeps a buffer as it is for the duration of a call.
  class Hold {
   public:
    Hold() = default;
    Hold(AdoptedMemory& owner, Buffer& buffer) : owner_(&owner), buffer_(&buffer) {}
    ~Hold() { release(); }
    Hold(Hold&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), buffer_(other.buffer_) {}
    Hold& operator=(Hold&& other) noexcept {
      release();
      owner_ = std::exchange(other.owner_, nullptr);
      buffer_ = other.buffer_;
      return *this;
    }
    /// Null if nothing is held.
    [[nodiscard]] const Buffer* buffer() const { return owner_ == nullptr ? nullptr : buffer_; }
    void release() {
      if (AdoptedMemory* const owner = std::exchange(owner_, nullptr)) owner->release(*buffer_);
    }

   private:
    AdoptedMemory* owner_ = nullptr;
    Buffer* buffer_ = nullptr;
  };

  explicit AdoptedMemory(SharedHeap& heap) : heap_(heap) {}

  /// Holds the adopted buffer in which this memory lies, if it is still there; adopts the memory if
  /// it was named often enough, and may be. The memory must not be written to meanwhile.
  [[nodiscard]] Hold hold(std::span<std::byte> memory);

  /// Moves the pages of `data` to private memory: what other processes write from now on is not
  /// seen. False if the system has no memory for it. Requires: `data` is in a held buffer.
  [[nodiscard]] bool cut_off(std::span<std::byte> data);

  /// Gives the pages of buffers back that the program has freed, and forgets all others that it has
  /// named.
  void reclaim();
  /// Bytes of buffers that are adopted now.
  [[nodiscard]] std::uint64_t bytes() const;

  // While a thread forks --------------------------------------------------------------------------

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  /// Whether a snapshot of the heap needs this block. Requires: locked.
  [[nodiscard]] bool is_copied_at_fork(std::uint64_t offset) const;
  /// In the parent, before the fork. The buffers that are not in the snapshot become
  /// copies-on-write of the file in this process, and so in the child. Nothing writes to the file
  /// there any more, and the buffers are not adopted again. Those of a running call stay as they
  /// are. Requires: locked.
  void disown_all_but(const HeapSnapshot* snapshot);
  /// In the child, once the heap is private there: gives it pages of its own at the addresses of
  /// all adopted buffers. Async-signal-safe. Requires: locked.
  void detach_from_parent();

 private:
  /// Memory that was named and is not adopted.
  struct Candidate {
    std::size_t bytes = 0;
    std::uint32_t uses = 0;    ///< How often it was named since the last try.
    std::uint32_t needed = 0;  ///< After so many uses it is tried.
  };
  using Buffers = std::map<const std::byte*, std::unique_ptr<Buffer>>;

  void release(Buffer& buffer);
  [[nodiscard]] Buffers::iterator find(std::span<const std::byte> memory);
  [[nodiscard]] MemoryMap::File file() const;
  [[nodiscard]] bool is_of_heap(const MemoryMap::Area& area) const;
  [[nodiscard]] bool is_in_place(const Buffer& buffer) const;
  [[nodiscard]] bool is_due(std::span<const std::byte> memory);
  void postpone(const std::byte* memory, std::size_t bytes, std::uint32_t needed);
  [[nodiscard]] bool may_be_adopted(const Buffer& buffer) const;
  [[nodiscard]] bool is_free_of_calls(const Buffer& buffer) const;
  [[nodiscard]] Buffer* adopt(std::span<std::byte> memory);
  [[nodiscard]] std::size_t move(const Buffer& buffer) const;
  void discard(const Buffer& buffer, std::span<const std::byte> replaced) const;
  /// A part of a buffer that is mapped in place.
  struct Mapped {
    std::byte* at = nullptr;
    std::uint64_t offset = 0;  // In the file.
    std::size_t bytes = 0;
  };
  [[nodiscard]] static std::optional<Mapped> mapped(const MemoryMap::Area& area,
                                                    const Buffer& buffer);
  template <class Visit>
  void visit_mappings(Visit visit) const;
  Buffers::iterator lose(Buffers::iterator at);
  Buffers::iterator forget(Buffers::iterator at);
  void free_lost();
  void find_freed();

  SharedHeap& heap_;
  mutable std::mutex mutex_;        // Of all below.
  std::unique_ptr<MemoryMap> map_;  // Opened when it is first needed.
  Buffers buffers_;                 // They do not overlap. By where they begin.
  /// Buffers that the program has freed, or that are part of another one now.
  std::vector<std::unique_ptr<Buffer>> lost_;
  /// Copies-on-write of the file here and in children. Kept until the process ends, since it cannot
  /// know how long the children use them.
  std::vector<std::unique_ptr<Buffer>> disowned_;
  std::unordered_map<const std::byte*, Candidate> candidates_;
  std::uint32_t holds_ = 0;
};

}  // namespace tutti
