#include "transport/memory/shared_heap.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tutti/error.hpp>

#include "core/file_size_guard.hpp"
#include "core/system_reason.hpp"
#include "transport/memory/pages.hpp"

namespace tutti {
namespace {

/// The file grows by multiples of this.
constexpr std::uint64_t growth = std::uint64_t{1} << 20;

std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

[[noreturn]] void refuse(std::uint64_t bytes, int cause) {
  throw Error(ErrorCode::unsupported, "no room for " + std::to_string(bytes) +
                                          " bytes of shared memory: " + system_reason(cause));
}

/// Reserves address space for all physical memory, or less if it is limited (ulimit -v). Reserved
/// addresses cost no memory.
void* reserve(std::uint64_t& bytes) {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  for (bytes = std::max(pages * page_bytes, std::uint64_t{1} << 36); bytes > growth; bytes /= 2) {
    void* const base =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED) return base;
  }
  throw Error(ErrorCode::unsupported,
              "no address space left for shared memory: raise the limit (ulimit -v)");
}

int memory_file() {
  const int fd = memfd_create("tutti-heap", MFD_CLOEXEC);
  if (fd < 0) {
    throw Error(ErrorCode::unsupported, "cannot create shared memory: " + system_reason(errno));
  }
  fchmod(fd, S_IRUSR | S_IWUSR);
  return fd;
}

}  // namespace

/// Leaked on purpose, one heap for each fork on the way to this process.
constinit std::atomic<SharedHeap*> SharedHeap::newest{nullptr};
constinit std::atomic<std::uint64_t> SharedHeap::most_copied{HeapSnapshot::most_bytes};

/// Takes no lock: another thread might have held it when this process was forked.
SharedHeap& SharedHeap::own() {
  SharedHeap* found = newest.load(std::memory_order_acquire);
  if (found != nullptr && found->origin_.is_here()) return *found;
  static const bool is_detached = pthread_atfork(begin_fork, end_fork, detach_from_parent) == 0;
  (void)is_detached;
  auto* const made = new SharedHeap;
  made->inherited_ = found;
  if (newest.compare_exchange_strong(found, made)) return *made;
  delete made;  // Another thread was first.
  return *found;
}

/// No other thread changes the heap while this one forks.
void SharedHeap::begin_fork() {
  if (SharedHeap* const heap = newest.load(std::memory_order_acquire)) {
    heap->adopted_.lock();
    heap->mutex_.lock();
    heap->is_forking_ = true;
    if (heap->is_copied_) return;
    heap->snapshot_ = heap->snapshot();
    heap->adopted_.disown_all_but(heap->snapshot_ ? &*heap->snapshot_ : nullptr);
  }
}

/// None if there is nothing to copy, or no memory for it.
std::optional<HeapSnapshot> SharedHeap::snapshot() const try {
  std::vector<HeapSnapshot::Range> blocks;
  for (const auto& [offset, bytes] : used_) {
    if (!cache_.is_idle(offset) && adopted_.is_copied_at_fork(offset))
      blocks.push_back({offset, bytes});
  }
  if (blocks.empty()) return std::nullopt;
  std::vector<HeapSnapshot::Range> pages;
  for (const auto& [offset, bytes] : private_) pages.push_back({offset, bytes});
  return HeapSnapshot::of(fd_, size_.load(std::memory_order_relaxed), std::move(blocks),
                          std::move(pages), most_copied.load(std::memory_order_relaxed));
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

void SharedHeap::end_fork() {
  SharedHeap* const heap = newest.load(std::memory_order_acquire);
  if (heap == nullptr || !std::exchange(heap->is_forking_, false)) return;
  heap->snapshot_.reset();
  heap->mutex_.unlock();
  heap->adopted_.unlock();
}

/// Runs in a child before fork() returns. Puts the snapshot in the place of the heap, and maps what
/// is not in it copy-on-write, which takes no memory until the child writes to it. Pages that were
/// cut off are copy-on-write already.
void SharedHeap::detach_from_parent() {
  SharedHeap* const heap = newest.load(std::memory_order_relaxed);
  if (heap == nullptr) return;
  if (std::exchange(heap->is_copied_, true)) return end_fork();
  const auto detach = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    (void)mmap(heap->base_ + begin, end - begin, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, heap->fd_, static_cast<off_t>(begin));
  };
  std::uint64_t begin = 0;
  for (const auto& [offset, bytes] : heap->private_) {
    detach(begin, offset);
    begin = offset + bytes;
  }
  detach(begin, heap->size_.load(std::memory_order_relaxed));
  if (heap->snapshot_) heap->snapshot_->replace(heap->base_);
  heap->adopted_.detach_from_parent();
  end_fork();
}

SharedHeap::SharedHeap()
    : fd_(memory_file()),
      base_(static_cast<std::byte*>(reserve(reserved_))),
      cache_(*this, base_, reserved_),
      adopted_(*this) {
  struct stat facts {};
  if (fstat(fd_, &facts) != 0) return;
  file_ = facts.st_ino;
  device_ = facts.st_dev;
}

SharedHeap::~SharedHeap() {
  munmap(base_, reserved_);
  close(fd_);
}

void* SharedHeap::allocate(std::size_t bytes) {
  if (bytes > reserved_) refuse(bytes, ENOMEM);  // Also prevents overflow in the rounding.
  const std::lock_guard lock(mutex_);
  const std::uint64_t wanted = whole(std::max<std::uint64_t>(bytes, 1), page_bytes);
  auto found = std::find_if(free_.begin(), free_.end(),
                            [&](const auto& each) { return each.second >= wanted; });
  if (found == free_.end()) found = free_.find(grow(wanted));
  const auto [offset, size] = *found;
  free_.erase(found);
  if (size > wanted) free_.emplace(offset + wanted, size - wanted);
  used_.emplace(offset, wanted);
  return base_ + offset;
}

/// Returns the offset of a free block that is large enough.
std::uint64_t SharedHeap::grow(std::uint64_t bytes) {
  const std::uint64_t old = size_.load(std::memory_order_relaxed);
  const std::uint64_t more = whole(bytes, growth);
  if (more > reserved_ - old) refuse(bytes, ENOMEM);
  const FileSizeGuard guard;
  // Pages are allocated when they are touched, as with malloc.
  if (ftruncate(fd_, static_cast<off_t>(old + more)) != 0) refuse(bytes, errno);
  if (mmap(base_ + old, more, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
           static_cast<off_t>(old)) == MAP_FAILED) {
    refuse(bytes, errno);
  }
  size_.store(old + more, std::memory_order_release);
  add_free(old, more);
  const auto last = std::prev(free_.end());
  return last->first;
}

bool SharedHeap::contains(const void* memory) const {
  const auto* const at = static_cast<const std::byte*>(memory);
  return !std::less<>()(at, base_) && std::less<>()(at, base_ + reserved_);
}

/// Null if no heap contains it.
SharedHeap* SharedHeap::containing(const void* memory) {
  SharedHeap* heap = newest.load(std::memory_order_acquire);
  while (heap != nullptr && !heap->contains(memory)) heap = heap->inherited_;
  return heap;
}

void SharedHeap::release_any(void* memory) {
  SharedHeap* const heap = containing(memory);
  if (heap == nullptr) {
    throw Error(ErrorCode::invalid_argument, "this memory is not from tutti::allocate()");
  }
  if (!heap->origin_.is_here()) return;
  if (heap->cache_.bytes_of(memory) > 0) {
    heap->cache_.release(memory);
  } else {
    heap->release(memory);
  }
}

std::uint64_t SharedHeap::bytes_of(const void* memory) {
  SharedHeap* const heap = containing(memory);
  if (heap == nullptr) return 0;
  if (const std::uint64_t cached = heap->cache_.bytes_of(memory)) return cached;
  const std::lock_guard lock(heap->mutex_);
  const auto found = heap->used_.find(
      static_cast<std::uint64_t>(static_cast<const std::byte*>(memory) - heap->base_));
  return found == heap->used_.end() ? 0 : found->second;
}

void SharedHeap::release(void* memory) {
  if (!origin_.is_here()) return;
  const std::lock_guard lock(mutex_);
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(memory) - base_);
  const auto found = used_.find(offset);
  if (found == used_.end()) {
    throw Error(ErrorCode::invalid_argument, "this memory is not from tutti::allocate()");
  }
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(found->second));
  if (!abandon_private(offset, found->second)) add_free(offset, found->second);
  used_.erase(found);
}

/// The new pages replace the old ones in one step, so no access in between fails. A store by
/// another thread of this process between the copy and the replacement would be lost.
bool SharedHeap::make_private(std::span<std::byte> data) {
  const std::lock_guard lock(mutex_);
  const auto offset = static_cast<std::uint64_t>(data.data() - base_);
  const std::uint64_t begin = offset / page_bytes * page_bytes;
  const std::uint64_t bytes = whole(offset + data.size(), page_bytes) - begin;
  void* const copy =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  std::memcpy(copy, base_ + begin, bytes);
  if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base_ + begin) == MAP_FAILED) {
    munmap(copy, bytes);
    return false;
  }
  std::uint64_t& known = private_[begin];
  known = std::max(known, bytes);
  has_private_.store(true, std::memory_order_release);
  return true;
}

bool SharedHeap::overlaps_private(std::uint64_t offset, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(private_.begin(), private_.end(), [&](const auto& each) {
    return each.first < offset + bytes && offset < each.first + each.second;
  });
}

/// Returns whether pages of a released block were cut off. A process that was stopped may still
/// write to these pages of the file, so that they are not used again. Only addresses are lost.
bool SharedHeap::abandon_private(std::uint64_t offset, std::uint64_t bytes) {
  const auto is_in_block = [&](const auto& each) {
    return each.first >= offset && each.first < offset + bytes;
  };
  if (std::erase_if(private_, is_in_block) == 0) return false;
  if (private_.empty()) has_private_.store(false, std::memory_order_release);
  (void)mmap(base_ + offset, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return true;
}

void SharedHeap::add_free(std::uint64_t offset, std::uint64_t bytes) {
  auto at = free_.emplace(offset, bytes).first;
  const auto next = std::next(at);
  if (next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at == free_.begin()) return;
  const auto previous = std::prev(at);
  if (previous->first + previous->second != at->first) return;
  previous->second += at->second;
  free_.erase(at);
}

}  // namespace tutti
