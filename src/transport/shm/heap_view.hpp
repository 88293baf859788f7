#pragma once

#include <vector>

#include "transport/memory/shared_view.hpp"
#include "transport/shm/shared_heap.hpp"

namespace tutti {

/// Maps the shared heaps of other processes of the host, a window at a time, on first use. Keeps no
/// descriptors.
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

  [[nodiscard]] std::optional<Published> publish(std::span<const std::byte> data) override;
  /// Throws peer_lost if the heap is gone.
  [[nodiscard]] const std::byte* resolve(std::uint32_t local, std::uint64_t where) override {
    return window(local, where).base + where % window_bytes;
  }
  [[nodiscard]] std::byte* resolve_to_write(std::uint32_t local, std::uint64_t where) override;
  [[nodiscard]] std::byte* own(std::uint64_t where) override { return own_.at(where); }
  [[nodiscard]] bool revoke(std::span<std::byte> data) override { return own_.make_private(data); }

 private:
  static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 30;

  /// A mapped part of another process's heap. Read-only until this rank writes there.
  struct Window {
    std::byte* base = nullptr;
    bool is_writable = false;
  };
  using Windows = std::vector<Window>;

  [[nodiscard]] Window& window(std::uint32_t local, std::uint64_t where) {
    Windows& windows = windows_[local];
    const std::uint64_t index = where / window_bytes;
    return index < windows.size() && windows[index].base != nullptr ? windows[index]
                                                                    : map_window(local, index);
  }
  [[nodiscard]] Window& map_window(std::uint32_t local, std::uint64_t index);

  SharedHeap& own_;
  std::vector<Neighbour> neighbours_;
  std::vector<Windows> windows_;  // By place.
};

}  // namespace tutti
