#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/memory/call_memory.hpp"
#include "transport/memory/shared_heap.hpp"
#include "transport/memory/shared_view.hpp"
#include "transport/shm/cross_memory.hpp"

namespace tutti {

/// Maps the shared heaps of other processes of the host, a window at a time, on first use. Keeps no
/// descriptors.
///
/// Thread-safe: ports of several communicators share it.
class HeapView final : public SharedView {
 public:
  /// The process and heap descriptor of a local rank.
  struct Neighbour {
    int pid = 0;
    int heap_fd = -1;
    std::uint64_t heap_file = 0;  ///< As in SharedHeap::file().
  };

  /// `neighbours` is ordered by place on the host. Throws unsupported if this process cannot open
  /// the heap of the neighbour after `self`: so every heap is opened by one process.
  HeapView(std::vector<Neighbour> neighbours, std::uint32_t self);
  ~HeapView() override;
  HeapView(const HeapView&) = delete;
  HeapView& operator=(const HeapView&) = delete;

  [[nodiscard]] std::optional<Published> publish(std::span<const std::byte> data,
                                                 const CallMemory* memory) override;
  /// Throws peer_lost if the heap is gone.
  [[nodiscard]] const std::byte* resolve(std::uint32_t local, std::uint64_t where) override {
    return window(local, where).base + where % window_bytes;
  }
  [[nodiscard]] std::byte* resolve_to_write(std::uint32_t local, std::uint64_t where) override;
  [[nodiscard]] std::byte* own(std::uint64_t where, std::size_t bytes,
                               const CallMemory* memory) override {
    std::byte* const adopted = memory == nullptr ? nullptr : memory->fetch(where, bytes);
    return adopted != nullptr ? adopted : own_.at(where);
  }
  [[nodiscard]] bool revoke(std::span<std::byte> data) override {
    return own_.contains(data.data()) ? own_.make_private(data) : own_.adopted().cut_off(data);
  }
  [[nodiscard]] bool can_be_fetched(std::span<const std::byte> data) override {
    return cross_memory_ && CrossMemory::can_be_read(data);
  }
  void fetch(std::uint32_t local, std::uint64_t address, std::span<std::byte> to) override {
    cross_memory_->read(local, address, to);
  }

  /// To be called if every rank can read the memory of every other: see fetch().
  void permit_fetching();

 private:
  static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 30;

  /// A mapped part of another process's heap. Read-only until this rank writes there.
  struct Window {
    Window(std::uint64_t its_index, std::byte* its_base, Window* its_next)
        : index(its_index), base(its_base), next(its_next) {}

    std::uint64_t index;
    std::byte* base;
    Window* next;  // Of the same heap.
    std::atomic<bool> is_writable{false};
  };

  [[nodiscard]] Window& window(std::uint32_t local, std::uint64_t where) {
    const std::uint64_t index = where / window_bytes;
    Window* const found = find(local, index);
    return found != nullptr ? *found : map_window(local, index);
  }
  [[nodiscard]] Window* find(std::uint32_t local, std::uint64_t index) const {
    Window* each = newest_[local].load(std::memory_order_acquire);
    while (each != nullptr && each->index != index) each = each->next;
    return each;
  }
  [[nodiscard]] Window& map_window(std::uint32_t local, std::uint64_t index);

  SharedHeap& own_;
  std::vector<Neighbour> neighbours_;
  std::mutex mutex_;  // To add windows. Finding them needs no lock.
  std::deque<Window> windows_;
  std::vector<std::atomic<Window*>> newest_;  // By place: the head of a list.
  std::optional<CrossMemory> cross_memory_;
};

}  // namespace tutti
