#include "transport/shm/heap_view.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr std::uint64_t window_bytes = std::uint64_t{1} << 30;

}  // namespace

HeapView::HeapView(const std::vector<Neighbour>& neighbours)
    : own_(SharedHeap::own()), heaps_(neighbours.size()) {
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const std::string path = "/proc/" + std::to_string(neighbours[i].pid) + "/fd/" +
                             std::to_string(neighbours[i].heap_fd);
    heaps_[i].fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (heaps_[i].fd < 0) {
      throw Error(ErrorCode::unsupported, "cannot open " + path + ": " + std::strerror(errno));
    }
  }
}

HeapView::~HeapView() {
  for (const Heap& heap : heaps_) {
    for (const std::byte* window : heap.windows) {
      if (window != nullptr) munmap(const_cast<std::byte*>(window), window_bytes);
    }
    if (heap.fd >= 0) close(heap.fd);
  }
}

std::optional<SharedView::Published> HeapView::publish(std::span<const std::byte> data) {
  const std::optional<std::uint64_t> offset = own_.offset_of(data);
  if (!offset) return std::nullopt;
  // Data that spans two windows is published in parts.
  const std::uint64_t in_window = window_bytes - *offset % window_bytes;
  return Published{.where = *offset, .bytes = std::min<std::size_t>(data.size(), in_window)};
}

const std::byte* HeapView::resolve(std::uint32_t local, std::uint64_t where) {
  Heap& heap = heaps_[local];
  const std::uint64_t index = where / window_bytes;
  if (index >= heap.windows.size()) heap.windows.resize(index + 1, nullptr);
  const std::byte*& window = heap.windows[index];
  if (window == nullptr) {
    void* const mapping = mmap(nullptr, window_bytes, PROT_READ, MAP_SHARED, heap.fd,
                               static_cast<off_t>(index * window_bytes));
    if (mapping == MAP_FAILED) {
      throw Error(
          ErrorCode::unsupported,
          std::string("cannot map the shared heap of another process: ") + std::strerror(errno));
    }
    window = static_cast<const std::byte*>(mapping);
  }
  return window + where % window_bytes;
}

}  // namespace tutti
