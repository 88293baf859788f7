#include "transport/memory/adopted_memory.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <tutti/error.hpp>

#include "core/file_size_guard.hpp"
#include "transport/memory/heap_snapshot.hpp"
#include "transport/memory/malloc_memory.hpp"
#include "transport/memory/pages.hpp"
#include "transport/memory/shared_heap.hpp"

namespace tutti {
namespace {

/// Moving a buffer takes about as long as is gained in four to ten calls.
constexpr std::uint32_t usual_uses = 4;
constexpr std::uint32_t most_uses = 1U << 20;
/// So many bytes are moved at a time, and exist twice meanwhile.
constexpr std::size_t moved_at_a_time = std::size_t{2} << 20;
constexpr std::size_t most_candidates = 1024;
constexpr std::size_t most_buffers = 4096;

/// True if the kernel or a device may access pages of this process by their physical address, or
/// must not move them: locked pages (mlock), those registered with a network card, and any memory
/// of a program that uses a GPU.
bool has_pinned_pages() {
  std::ifstream status("/proc/self/status");
  std::string key;
  std::string rest;
  while (status >> key) {
    if (key == "VmLck:" || key == "VmPin:") {
      std::uint64_t kilobytes = 0;
      if (!(status >> kilobytes) || kilobytes > 0) return true;
    }
    std::getline(status, rest);
  }
  for (const char* const driver : {"libcuda.so.1", "libamdhip64.so", "libze_loader.so.1"}) {
    if (void* const found = dlopen(driver, RTLD_LAZY | RTLD_NOLOAD)) {
      dlclose(found);
      return true;
    }
  }
  return false;
}

}  // namespace

std::uint64_t AdoptedMemory::Buffer::publish(std::span<const std::byte> data) const {
  const auto from = static_cast<std::size_t>(data.data() - pointer_to(page_of(begin)));
  const std::span<const std::byte> whole = moved();
  const auto copy = [&](const std::byte* first, const std::byte* last) {
    if (first < last) {
      std::memcpy(mirror + from + (first - data.data()), first,
                  static_cast<std::size_t>(last - first));
    }
  };
  const std::byte* const end = data.data() + data.size();
  copy(data.data(), std::min<const std::byte*>(end, whole.data()));
  copy(std::max<const std::byte*>(data.data(), whole.data() + whole.size()), end);
  return offset + from;
}

std::byte* AdoptedMemory::Buffer::fetch(std::uint64_t where, std::size_t length) const {
  std::byte* const base = pointer_to(page_of(begin));
  if (where < offset + static_cast<std::uint64_t>(begin - base)) return nullptr;
  std::byte* const data = base + (where - offset);
  if (!contains({data, length})) return nullptr;
  const std::span<std::byte> whole = moved();
  const auto copy = [&](std::byte* first, const std::byte* last) {
    if (first < last) {
      std::memcpy(first, mirror + (first - base), static_cast<std::size_t>(last - first));
    }
  };
  copy(data, std::min<const std::byte*>(data + length, whole.data()));
  copy(std::max(data, whole.data() + whole.size()), data + length);
  return data;
}

AdoptedMemory::Hold AdoptedMemory::hold(std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  if (!map_) map_ = std::make_unique<MemoryMap>();
  if (!map_->can_be_asked()) return {};
  constexpr std::uint32_t holds_between_looks = 256;
  if (++holds_ % holds_between_looks == 0) find_freed();
  Buffer* held = nullptr;
  if (const auto found = find(memory); found != buffers_.end()) {
    if (is_in_place(*found->second)) {
      held = found->second.get();
    } else {
      forget(found);
      free_lost();
    }
  }
  if (held == nullptr && is_due(memory)) {
    const std::uint32_t needed = candidates_[memory.data()].needed;
    held = adopt(memory);
    if (held == nullptr) {
      postpone(memory.data(), memory.size(), needed);
    } else {
      held->needed = needed;
      candidates_.erase(memory.data());
    }
  }
  if (held == nullptr) return {};
  ++held->holds;
  return {*this, *held};
}

/// Visits the places at which pages of the heap's file are mapped outside of the heap.
template <class Visit>
void AdoptedMemory::visit_mappings(Visit visit) const {
  std::uintptr_t from = 0;
  while (const std::optional<MemoryMap::Area> area = map_->next_shared_file(from)) {
    from = area->end;
    if (is_of_heap(*area) && !heap_.contains(pointer_to(area->begin))) visit(*area);
  }
}

void AdoptedMemory::release(Buffer& buffer) {
  const std::lock_guard lock(mutex_);
  --buffer.holds;
}

/// The buffer that contains all of this memory.
AdoptedMemory::Buffers::iterator AdoptedMemory::find(std::span<const std::byte> memory) {
  auto after = buffers_.upper_bound(memory.data());
  if (after == buffers_.begin()) return buffers_.end();
  const auto before = std::prev(after);
  return before->second->contains(memory) ? before : buffers_.end();
}

MemoryMap::File AdoptedMemory::file() const {
  return {.device = heap_.device(), .inode = heap_.file()};
}

bool AdoptedMemory::is_of_heap(const MemoryMap::Area& area) const {
  return area.file == file() && area.is_shared;
}

/// True if the kernel says that the pages of the buffer are still those of the file.
bool AdoptedMemory::is_in_place(const Buffer& buffer) const {
  const std::span<std::byte> moved = buffer.moved();
  const auto begin = reinterpret_cast<std::uintptr_t>(moved.data());
  const std::optional<MemoryMap::Area> area = map_->at(begin);
  return area && is_of_heap(*area) && area->is_writable && area->end >= begin + moved.size() &&
         area->offset + (begin - area->begin) == buffer.offset + (begin - page_of(buffer.begin));
}

/// Counts a use of memory that is not adopted. True if it is time to try.
bool AdoptedMemory::is_due(std::span<const std::byte> memory) {
  auto found = candidates_.find(memory.data());
  if (found == candidates_.end()) {
    if (candidates_.size() >= most_candidates) candidates_.clear();
    found = candidates_.emplace(memory.data(), Candidate{.needed = usual_uses}).first;
  }
  Candidate& candidate = found->second;
  if (candidate.bytes != memory.size()) {
    candidate.bytes = memory.size();
    candidate.uses = 0;
  }
  return ++candidate.uses >= candidate.needed && buffers_.size() < most_buffers;
}

/// The next try is later.
void AdoptedMemory::postpone(const std::byte* memory, std::size_t bytes, std::uint32_t needed) {
  candidates_[memory] = {.bytes = bytes, .needed = std::min(needed * 2, most_uses)};
}

bool AdoptedMemory::may_be_adopted(const Buffer& buffer) const {
  if (buffer.kind == MallocMemory::other || has_pinned_pages()) return false;
  const std::span<const std::byte> pages = pages_around({buffer.begin, buffer.bytes});
  const std::uintptr_t end = page_of(pages.data() + pages.size());
  std::uintptr_t at = page_of(pages.data());
  while (at < end) {
    const std::optional<MemoryMap::Area> area = map_->at(at);
    if (!area || !area->is_writable || area->page_bytes != page_bytes) return false;
    const bool is_anonymous = area->file == MemoryMap::File{} && !area->is_shared;
    if (!is_anonymous && !is_of_heap(*area)) return false;
    at = area->end;
  }
  return true;
}

bool overlap(const AdoptedMemory::Buffer& a, const AdoptedMemory::Buffer& b) {
  const std::span<const std::byte> left = a.moved();
  const std::span<const std::byte> right = b.moved();
  return left.data() < right.data() + right.size() && right.data() < left.data() + left.size();
}

/// True if no call uses an adopted buffer of which pages would be moved again.
bool AdoptedMemory::is_free_of_calls(const Buffer& buffer) const {
  return std::all_of(buffers_.begin(), buffers_.end(), [&](const auto& each) {
    return each.second->holds == 0 || !overlap(buffer, *each.second);
  });
}

/// Null if the memory cannot be adopted.
AdoptedMemory::Buffer* AdoptedMemory::adopt(std::span<std::byte> memory) {
  auto made = std::make_unique<Buffer>(Buffer{.begin = memory.data(),
                                              .bytes = memory.size(),
                                              .kind = malloc_memory(memory, *map_, file())});
  if (made->moved().empty() || !is_free_of_calls(*made) || !may_be_adopted(*made)) return nullptr;
  try {
    made->mirror = static_cast<std::byte*>(heap_.allocate(pages_around(memory).size()));
  } catch (const Error&) {
    return nullptr;
  }
  made->offset = *heap_.offset_of({made->mirror, page_bytes});
  const std::size_t moved = move(*made);
  for (auto at = buffers_.begin(); at != buffers_.end();) {
    if (overlap(*made, *at->second)) {
      discard(*at->second, {made->moved().data(), moved});
      at = lose(at);
    } else {
      ++at;
    }
  }
  if (moved < made->moved().size()) {
    lost_.push_back(std::move(made));
    free_lost();
    return nullptr;
  }
  free_lost();
  return (buffers_[memory.data()] = std::move(made)).get();
}

/// Frees the pages of the file in whose place these of another buffer are mapped now.
void AdoptedMemory::discard(const Buffer& buffer, std::span<const std::byte> replaced) const {
  const std::span<const std::byte> pages = buffer.moved();
  const std::byte* const first = std::max(pages.data(), replaced.data());
  const std::byte* const last =
      std::min(pages.data() + pages.size(), replaced.data() + replaced.size());
  if (first >= last) return;
  (void)fallocate(heap_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(buffer.offset) + (first - pointer_to(page_of(buffer.begin))),
                  last - first);
}

/// Copies the whole pages of a buffer to the file, and maps them in their place. Returns the bytes
/// for which that was possible.
std::size_t AdoptedMemory::move(const Buffer& buffer) const {
  const FileSizeGuard guard;
  const std::span<std::byte> pages = buffer.moved();
  const std::uint64_t offset =
      buffer.offset + static_cast<std::uint64_t>(pages.data() - pointer_to(page_of(buffer.begin)));
  std::size_t done = 0;
  while (done < pages.size()) {
    const std::size_t bytes = std::min(moved_at_a_time, pages.size() - done);
    std::byte* const from = pages.data() + done;
    const auto to = static_cast<off_t>(offset + done);
    if (pwrite(heap_.fd(), from, bytes, to) != static_cast<ssize_t>(bytes)) break;
    if (mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, heap_.fd(),
             to) == MAP_FAILED) {
      break;
    }
    done += bytes;
  }
  return done;
}

bool AdoptedMemory::cut_off(std::span<std::byte> data) {
  const std::lock_guard lock(mutex_);
  const auto found = find(data);
  if (found == buffers_.end()) return false;
  const Buffer& buffer = *found->second;
  const std::span<std::byte> moved = buffer.moved();
  std::byte* const begin = std::max(pages_around(data).data(), moved.data());
  std::byte* const end =
      std::min(pages_around(data).data() + pages_around(data).size(), moved.data() + moved.size());
  if (begin < end) {
    const auto bytes = static_cast<std::size_t>(end - begin);
    void* const copy =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return false;
    std::memcpy(copy, begin, bytes);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == MAP_FAILED) {
      munmap(copy, bytes);
      return false;
    }
  }
  // The heap then does not use this place of the file again.
  return heap_.make_private(
      {buffer.mirror + (data.data() - pointer_to(page_of(buffer.begin))), data.size()});
}

/// Returns the iterator to the next buffer.
AdoptedMemory::Buffers::iterator AdoptedMemory::lose(Buffers::iterator at) {
  lost_.push_back(std::move(at->second));
  return buffers_.erase(at);
}

/// Loses a buffer that the program has freed. What it allocates there next may be freed as soon.
AdoptedMemory::Buffers::iterator AdoptedMemory::forget(Buffers::iterator at) {
  const Buffer& buffer = *at->second;
  postpone(buffer.begin, buffer.bytes, buffer.needed);
  return lose(at);
}

void AdoptedMemory::reclaim() {
  const std::lock_guard lock(mutex_);
  find_freed();
  candidates_.clear();
}

void AdoptedMemory::find_freed() {
  for (auto at = buffers_.begin(); at != buffers_.end();) {
    at = at->second->holds == 0 && !is_in_place(*at->second) ? forget(at) : std::next(at);
  }
  free_lost();
}

/// Frees the pages of lost buffers that are mapped nowhere any more. A program that has shortened a
/// block still uses a part of them.
void AdoptedMemory::free_lost() {
  if (lost_.empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> in_use;
  visit_mappings([&](const MemoryMap::Area& area) {
    in_use.emplace_back(area.offset, area.offset + (area.end - area.begin));
  });
  if (!map_->can_be_asked()) return;  // Or it would free pages that it has not found.
  std::erase_if(lost_, [&](const std::unique_ptr<Buffer>& each) {
    const std::uint64_t end = each->offset + pages_around({each->begin, each->bytes}).size();
    const bool is_used = std::any_of(in_use.begin(), in_use.end(), [&](const auto& area) {
      return area.first < end && each->offset < area.second;
    });
    if (is_used || each->holds > 0) return false;
    heap_.release(each->mirror);
    return true;
  });
}

std::uint64_t AdoptedMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [begin, buffer] : buffers_) sum += buffer->bytes;
  return sum;
}

std::optional<AdoptedMemory::Mapped> AdoptedMemory::mapped(const MemoryMap::Area& area,
                                                           const Buffer& buffer) {
  const std::uint64_t end = buffer.offset + pages_around({buffer.begin, buffer.bytes}).size();
  const std::uint64_t first = std::max(area.offset, buffer.offset);
  const std::uint64_t last = std::min(area.offset + (area.end - area.begin), end);
  if (first >= last) return std::nullopt;
  return Mapped{
      .at = pointer_to(area.begin + (first - area.offset)), .offset = first, .bytes = last - first};
}

bool AdoptedMemory::is_copied_at_fork(std::uint64_t offset) const {
  const auto is_the_file_of = [&](const Buffer& buffer) { return buffer.offset == offset; };
  const auto stays_away = [&](const std::unique_ptr<Buffer>& each) {
    return is_the_file_of(*each) && each->kind == MallocMemory::heap;
  };
  return std::none_of(disowned_.begin(), disowned_.end(),
                      [&](const auto& each) { return is_the_file_of(*each); }) &&
         std::none_of(lost_.begin(), lost_.end(), stays_away) &&
         std::none_of(buffers_.begin(), buffers_.end(),
                      [&](const auto& each) { return stays_away(each.second); });
}

void AdoptedMemory::disown_all_but(const HeapSnapshot* snapshot) {
  const auto stays = [&](const Buffer& buffer) {
    if (buffer.holds > 0) return true;
    // Other threads may change malloc's bookkeeping after the snapshot.
    return buffer.kind == MallocMemory::mapping && snapshot != nullptr &&
           snapshot->has(buffer.offset);
  };
  std::vector<std::unique_ptr<Buffer>> leaving;
  for (auto at = buffers_.begin(); at != buffers_.end();) {
    if (stays(*at->second)) {
      ++at;
    } else {
      leaving.push_back(std::move(at->second));
      at = buffers_.erase(at);
    }
  }
  for (auto& each : lost_) {
    if (!stays(*each)) leaving.push_back(std::move(each));
  }
  std::erase(lost_, nullptr);
  if (leaving.empty()) return;
  visit_mappings([&](const MemoryMap::Area& area) {
    for (const auto& buffer : leaving) {
      const std::optional<Mapped> part = mapped(area, *buffer);
      if (!part) continue;
      (void)mmap(part->at, part->bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, heap_.fd(),
                 static_cast<off_t>(part->offset));
    }
  });
  std::move(leaving.begin(), leaving.end(), std::back_inserter(disowned_));
}

/// The child's own address space says what is adopted: another thread of the parent may have freed
/// a buffer just before the fork. The child's copy of a block moves to where the pages of the
/// parent are mapped.
void AdoptedMemory::detach_from_parent() {
  if (buffers_.empty() && lost_.empty()) return;
  map_->reopen();
  const auto detach = [&](const MemoryMap::Area& area, const Buffer& buffer) {
    const std::optional<Mapped> part = mapped(area, buffer);
    if (!part) return;
    if (mremap(heap_.at(part->offset), part->bytes, part->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               part->at) != MAP_FAILED) {
      return;
    }
    (void)mmap(part->at, part->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, heap_.fd(),
               static_cast<off_t>(part->offset));
  };
  visit_mappings([&](const MemoryMap::Area& area) {
    for (const auto& [begin, buffer] : buffers_) detach(area, *buffer);
    for (const auto& buffer : lost_) detach(area, *buffer);
  });
}

}  // namespace tutti
