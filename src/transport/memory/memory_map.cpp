#include "transport/memory/memory_map.hpp"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

namespace tutti {
namespace {

/// The argument of PROCMAP_QUERY. Headers of older systems do not have it.
struct Query {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t area_flags;
  std::uint64_t page_size;
  std::uint64_t offset;
  std::uint64_t inode;
  std::uint32_t device_major;
  std::uint32_t device_minor;
  std::uint32_t name_size;
  std::uint32_t build_id_size;
  std::uint64_t name;
  std::uint64_t build_id;
};
static_assert(sizeof(Query) == 104);

constexpr const char* maps = "/proc/self/maps";
constexpr unsigned long procmap_query = _IOWR('f', 17, Query);

// The same bits select areas and describe the one that was found.
constexpr std::uint64_t readable = 0x01;
constexpr std::uint64_t writable = 0x02;
constexpr std::uint64_t shared = 0x08;
constexpr std::uint64_t covering_or_next = 0x10;
constexpr std::uint64_t file_backed = 0x20;

}  // namespace

MemoryMap::MemoryMap() : fd_(open(maps, O_RDONLY | O_CLOEXEC)) {
  (void)at(reinterpret_cast<std::uintptr_t>(this));
}

MemoryMap::~MemoryMap() {
  if (fd_ >= 0) close(fd_);
}

void MemoryMap::reopen() {
  if (fd_ >= 0) close(fd_);
  fd_ = open(maps, O_RDONLY | O_CLOEXEC);
}

std::optional<MemoryMap::Area> MemoryMap::at(std::uintptr_t address) const {
  return ask(address, 0);
}

std::optional<MemoryMap::Area> MemoryMap::next_shared_file(std::uintptr_t address) const {
  return ask(address, covering_or_next | file_backed | shared);
}

std::optional<MemoryMap::Area> MemoryMap::ask(std::uintptr_t address, std::uint64_t what) const {
  Query query{};
  query.size = sizeof query;
  query.flags = what;
  query.address = address;
  if (ioctl(fd_, procmap_query, &query) != 0) {
    if (errno != ENOENT) can_be_asked_.store(false, std::memory_order_relaxed);
    return std::nullopt;
  }
  constexpr std::uint64_t both = readable | writable;
  return Area{.begin = query.begin,
              .end = query.end,
              .file = query.inode == 0
                          ? File{}
                          : File{.device = makedev(query.device_major, query.device_minor),
                                 .inode = query.inode},
              .offset = query.offset,
              .page_bytes = query.page_size,
              .is_writable = (query.area_flags & both) == both,
              .is_shared = (query.area_flags & shared) != 0};
}

}  // namespace tutti
