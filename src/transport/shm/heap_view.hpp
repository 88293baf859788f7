#pragma once

#include <vector>

#include "transport/memory/shared_view.hpp"
#include "transport/shm/shared_heap.hpp"

namespace tutti {

/// Processes of a host see what stands in each other's shared heaps, mapped a window at a time when
/// it is first needed.
class HeapView final : public SharedView {
 public:
  /// Whose heap is whose, by place on the host.
  struct Neighbour {
    int pid = 0;
    int heap_fd = -1;
  };

  explicit HeapView(const std::vector<Neighbour>& neighbours);
  ~HeapView() override;
  HeapView(const HeapView&) = delete;
  HeapView& operator=(const HeapView&) = delete;

  [[nodiscard]] std::optional<Published> publish(std::span<const std::byte> data) override;
  [[nodiscard]] const std::byte* resolve(std::uint32_t local, std::uint64_t where) override;

 private:
  /// Another process's heap, opened when the view is made: later its maker may be gone.
  struct Heap {
    int fd = -1;
    std::vector<const std::byte*> windows;
  };

  const SharedHeap& own_;
  std::vector<Heap> heaps_;
};

}  // namespace tutti
