#include "transport/shm/heap_view.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// An open descriptor of a heap, closed at the end of the scope.
class OpenHeap {
 public:
  explicit OpenHeap(const HeapView::Neighbour& neighbour)
      : path_("/proc/" + std::to_string(neighbour.pid) + "/fd/" +
              std::to_string(neighbour.heap_fd)),
        fd_(open(path_.c_str(), O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0) {
      const bool is_gone = errno == ENOENT || errno == ESRCH;
      refuse(is_gone ? ErrorCode::peer_lost : ErrorCode::unsupported,
             std::string("cannot open it: ") + std::strerror(errno));
    }
    struct stat facts {};
    if (fstat(fd_, &facts) == 0 && facts.st_ino == neighbour.heap_file) return;
    close(fd_);
    refuse(ErrorCode::peer_lost, "its process has ended");
  }
  ~OpenHeap() { close(fd_); }
  OpenHeap(const OpenHeap&) = delete;
  OpenHeap& operator=(const OpenHeap&) = delete;

  [[nodiscard]] std::byte* map(std::uint64_t offset, std::uint64_t bytes) const {
    void* const mapping =
        mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(offset));
    if (mapping == MAP_FAILED) {
      refuse(ErrorCode::unsupported, std::string("cannot map it: ") + std::strerror(errno));
    }
    return static_cast<std::byte*>(mapping);
  }

 private:
  [[noreturn]] void refuse(ErrorCode code, const std::string& why) const {
    throw Error(code, "the shared heap of another process, " + path_ + ": " + why);
  }

  std::string path_;
  int fd_;
};

}  // namespace

HeapView::HeapView(std::vector<Neighbour> neighbours, std::uint32_t self)
    : own_(SharedHeap::own()), neighbours_(std::move(neighbours)), newest_(neighbours_.size()) {
  try {
    (void)OpenHeap(neighbours_[(self + 1) % neighbours_.size()]);
  } catch (const Error& error) {
    throw Error(ErrorCode::unsupported, error.what());
  }
}

HeapView::~HeapView() {
  for (const Window& window : windows_) munmap(window.base, window_bytes);
}

std::optional<SharedView::Published> HeapView::publish(std::span<const std::byte> data,
                                                       const CallMemory* memory) {
  std::optional<std::uint64_t> offset = own_.offset_of(data);
  if (!offset && memory != nullptr) offset = memory->publish(data);
  if (!offset) return std::nullopt;
  // Data that spans two windows is published in parts.
  const std::uint64_t in_window = window_bytes - *offset % window_bytes;
  return Published{.where = *offset, .bytes = std::min<std::size_t>(data.size(), in_window)};
}

void HeapView::permit_fetching() {
  std::vector<int> pids;
  for (const Neighbour& each : neighbours_) pids.push_back(each.pid);
  cross_memory_.emplace(std::move(pids));
}

HeapView::Window& HeapView::map_window(std::uint32_t local, std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (Window* const found = find(local, index)) return *found;
  std::byte* const base = OpenHeap(neighbours_[local]).map(index * window_bytes, window_bytes);
  Window& window =
      windows_.emplace_back(index, base, newest_[local].load(std::memory_order_relaxed));
  newest_[local].store(&window, std::memory_order_release);
  return window;
}

std::byte* HeapView::resolve_to_write(std::uint32_t local, std::uint64_t where) {
  Window& found = window(local, where);
  if (!found.is_writable.load(std::memory_order_acquire)) {
    if (mprotect(found.base, window_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    found.is_writable.store(true, std::memory_order_release);
  }
  return found.base + where % window_bytes;
}

}  // namespace tutti
