#include "transport/memory/block_cache.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>

#include <tutti/error.hpp>

#include "transport/memory/shared_heap.hpp"

namespace tutti {
namespace {

/// Several ranks share the memory of a host.
std::uint64_t most_idle_bytes() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  return std::min(std::uint64_t{2} << 30, pages * SizeClass::page / 16);
}

}  // namespace

BlockCache::BlockCache(SharedHeap& heap, const std::byte* base, std::uint64_t reserved)
    : heap_(heap), base_(base), reserved_(reserved), most_idle_(most_idle_bytes()) {
  // Zeroed, and takes memory only where blocks begin.
  void* const states =
      mmap(nullptr, reserved_ / SizeClass::page * sizeof(State), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (states != MAP_FAILED) states_ = static_cast<std::atomic<State>*>(states);
}

BlockCache::~BlockCache() {
  if (states_ != nullptr) munmap(states_, reserved_ / SizeClass::page * sizeof(State));
}

BlockCache::State BlockCache::state_of(SizeClass size, bool is_idle) {
  return static_cast<State>(2 * (size.index() + 1) + (is_idle ? 1 : 0));
}

std::atomic<BlockCache::State>& BlockCache::state_at(std::uint64_t offset) const {
  return states_[offset / SizeClass::page];
}

std::uint64_t BlockCache::bytes_of(const void* memory) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(memory) - base_);
  if (states_ == nullptr || offset >= reserved_ || offset % SizeClass::page != 0) return 0;
  const State state = state_at(offset).load(std::memory_order_relaxed);
  return state == 0 ? 0 : size_of(state).bytes();
}

bool BlockCache::is_idle(std::uint64_t offset) const {
  return states_ != nullptr && state_at(offset).load(std::memory_order_relaxed) % 2 == 1;
}

void* BlockCache::acquire(std::size_t bytes) {
  if (states_ == nullptr || bytes > reserved_) {
    throw Error(ErrorCode::unsupported,
                "no room for " + std::to_string(bytes) + " bytes of shared memory");
  }
  const SizeClass size = SizeClass::of(bytes);
  if (void* const memory = take_idle(size)) return memory;
  void* const memory = allocate(size);
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(memory) - base_);
  state_at(offset).store(state_of(size, false), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  use_.in_use += size.bytes();
  return memory;
}

/// Null if there is none.
void* BlockCache::take_idle(SizeClass size) {
  const std::lock_guard lock(mutex_);
  Shelf& shelf = shelves_[size.index()];
  shelf.last_use = ++uses_;
  if (shelf.offsets.empty()) return nullptr;
  const std::uint64_t offset = shelf.offsets.back();
  shelf.offsets.pop_back();
  state_at(offset).store(state_of(size, false), std::memory_order_relaxed);
  use_.idle -= size.bytes();
  use_.in_use += size.bytes();
  return heap_.at(offset);
}

/// A heap without room may get some from the idle blocks.
void* BlockCache::allocate(SizeClass size) {
  try {
    return heap_.allocate(size.bytes());
  } catch (const Error&) {
    if (use().idle == 0) throw;
  }
  trim(0);
  return heap_.allocate(size.bytes());
}

void BlockCache::release(void* memory) {
  const std::uint64_t bytes = bytes_of(memory);
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(memory) - base_);
  // Other processes no longer see what this one writes to pages that were cut off.
  const bool is_shared = heap_.offset_of({static_cast<std::byte*>(memory), bytes}).has_value();
  if (bytes > 0) make_room_on_shelf(size_of(state_at(offset).load(std::memory_order_relaxed)));
  bool is_kept = false;
  {
    const std::lock_guard lock(mutex_);
    if (bytes == 0 || is_idle(offset)) {
      throw Error(ErrorCode::invalid_argument, "this memory is not in use: it was freed before");
    }
    const SizeClass size = size_of(state_at(offset).load(std::memory_order_relaxed));
    use_.in_use -= bytes;
    std::vector<std::uint64_t>& offsets = shelves_[size.index()].offsets;
    if (is_shared && bytes <= most_idle_ && offsets.size() < offsets.capacity()) {
      offsets.push_back(offset);
      state_at(offset).store(state_of(size, true), std::memory_order_relaxed);
      use_.idle += bytes;
      is_kept = true;
      if (use_.idle <= most_idle_) return;
    } else {
      state_at(offset).store(0, std::memory_order_relaxed);
    }
  }
  if (is_kept) {
    trim(most_idle_);
  } else {
    heap_.release(memory);
  }
}

/// So that a block can be put there without an allocation. If other threads take the room
/// meanwhile, the block goes back to the heap.
void BlockCache::make_room_on_shelf(SizeClass size) {
  std::vector<std::uint64_t> larger;
  {
    const std::lock_guard lock(mutex_);
    const std::vector<std::uint64_t>& offsets = shelves_[size.index()].offsets;
    if (offsets.size() < offsets.capacity()) return;
  }
  for (;;) {
    std::size_t wanted = 0;
    {
      const std::lock_guard lock(mutex_);
      std::vector<std::uint64_t>& offsets = shelves_[size.index()].offsets;
      if (offsets.size() < larger.capacity()) {
        larger.assign(offsets.begin(), offsets.end());
        larger.swap(offsets);
        return;  // Frees the former one when the lock is no longer held.
      }
      wanted = std::max<std::size_t>(2 * offsets.size(), 64);
    }
    larger.reserve(wanted);
  }
}

BlockCache::Use BlockCache::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

void BlockCache::trim(std::uint64_t keep) {
  std::array<std::uint64_t, 128> removed{};
  std::size_t count = 0;
  do {
    {
      const std::lock_guard lock(mutex_);
      count = remove_idle(keep, removed);
    }
    for (std::size_t i = 0; i < count; ++i) heap_.release(heap_.at(removed[i]));
  } while (count == removed.size());
}

/// Returns how many blocks it has removed: as many as `removed` has room for, if there are more.
/// The caller holds the mutex.
std::size_t BlockCache::remove_idle(std::uint64_t keep, std::span<std::uint64_t> removed) {
  std::size_t count = 0;
  while (use_.idle > keep && count < removed.size()) {
    std::uint32_t oldest = SizeClass::count;
    for (std::uint32_t i = 0; i < SizeClass::count; ++i) {
      if (shelves_[i].offsets.empty()) continue;
      if (oldest == SizeClass::count || shelves_[i].last_use < shelves_[oldest].last_use)
        oldest = i;
    }
    Shelf& shelf = shelves_[oldest];
    removed[count] = shelf.offsets.back();
    shelf.offsets.pop_back();
    state_at(removed[count]).store(0, std::memory_order_relaxed);
    use_.idle -= SizeClass(oldest).bytes();
    ++count;
  }
  return count;
}

}  // namespace tutti
