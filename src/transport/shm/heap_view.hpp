#pragma once

#include <vector>

#include "transport/memory/shared_view.hpp"
#include "transport/shm/shared_heap.hpp"

namespace tutti {

/// Maps the shared heaps of other processes of the host, a window at a time, on first use.
class HeapView final : public SharedView {
 public:
  /// The process and heap descriptor of a local rank.
  struct Neighbour {
    int pid = 0;
    int heap_fd = -1;
  };

  /// `neighbours` is ordered by place on the host.
  explicit HeapView(const std::vector<Neighbour>& neighbours);
  ~HeapView() override;
  HeapView(const HeapView&) = delete;
  HeapView& operator=(const HeapView&) = delete;

  [[nodiscard]] std::optional<Published> publish(std::span<const std::byte> data) override;
  [[nodiscard]] const std::byte* resolve(std::uint32_t local, std::uint64_t where) override;

 private:
  /// Another process's heap. Opened in the constructor, since that process may be gone later.
  struct Heap {
    int fd = -1;
    std::vector<const std::byte*> windows;
  };

  const SharedHeap& own_;
  std::vector<Heap> heaps_;
};

}  // namespace tutti
