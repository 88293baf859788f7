#include "transport/memory/heap_snapshot.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tutti {

std::optional<HeapSnapshot> HeapSnapshot::of(int fd, std::uint64_t bytes, std::vector<Range> blocks,
                                             std::vector<Range> untouched, std::uint64_t most) {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return std::nullopt;
  HeapSnapshot made(static_cast<std::byte*>(base), bytes);
  made.kept_ = std::move(untouched);
  std::sort(blocks.begin(), blocks.end(),
            [](const Range& a, const Range& b) { return a.bytes < b.bytes; });
  for (const Range& each : blocks) {
    if (each.bytes <= most && made.copy(fd, each)) {
      most -= each.bytes;
    } else {
      made.kept_.push_back(each);
    }
  }
  std::sort(made.kept_.begin(), made.kept_.end(),
            [](const Range& a, const Range& b) { return a.offset < b.offset; });
  return made;
}

HeapSnapshot::HeapSnapshot(HeapSnapshot&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(other.bytes_),
      kept_(std::move(other.kept_)) {}

HeapSnapshot& HeapSnapshot::operator=(HeapSnapshot&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(kept_, other.kept_);
  return *this;
}

HeapSnapshot::~HeapSnapshot() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

/// Copies only pages that exist: to read the others through the mapping of the heap would make
/// them.
bool HeapSnapshot::copy(int fd, Range block) {
  const std::uint64_t end = block.offset + block.bytes;
  std::uint64_t at = block.offset;
  while (at < end) {
    const off_t data = lseek(fd, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 || static_cast<std::uint64_t>(data) >= end) return true;
    const off_t hole = lseek(fd, data, SEEK_HOLE);
    // Another file, if the program has closed the heap's: a device says 0 for both.
    if (data < static_cast<off_t>(at) || hole <= data) return false;
    at = static_cast<std::uint64_t>(data);
    const std::uint64_t stop = std::min(end, static_cast<std::uint64_t>(hole));
    while (at < stop) {
      const ssize_t copied = pread(fd, base_ + at, stop - at, static_cast<off_t>(at));
      if (copied <= 0) return false;
      at += static_cast<std::uint64_t>(copied);
    }
  }
  return true;
}

bool HeapSnapshot::has(std::uint64_t offset) const {
  const auto begins_there = [&](const Range& each) { return each.offset == offset; };
  return std::none_of(kept_.begin(), kept_.end(), begins_there);
}

void HeapSnapshot::replace(std::byte* heap) {
  std::uint64_t begin = 0;
  const auto move = [&](std::uint64_t end) {
    if (begin >= end) return;
    (void)mremap(base_ + begin, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED,
                 heap + begin);
  };
  for (const Range& each : kept_) {
    move(each.offset);
    begin = std::max(begin, each.offset + each.bytes);
  }
  move(bytes_);
}

}  // namespace tutti
