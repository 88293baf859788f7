#include "transport/memory/malloc_memory.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include "transport/memory/pages.hpp"

namespace tutti {
namespace {

/// True if this process has the malloc of glibc, and not one that replaces it.
bool has_glibc_malloc() {
#if defined(__GLIBC__)
  static const bool has = [] {
    Dl_info library{};
    Dl_info allocator{};
    return dladdr(reinterpret_cast<const void*>(&gnu_get_libc_version), &library) != 0 &&
           dladdr(reinterpret_cast<const void*>(&std::malloc), &allocator) != 0 &&
           library.dli_fbase == allocator.dli_fbase;
  }();
  return has;
#else
  return false;
#endif
}

/// Where the kernel says that the heap begins; none if it does not say.
std::optional<std::uintptr_t> start_of_heap() {
  static const std::optional<std::uintptr_t> start = []() -> std::optional<std::uintptr_t> {
    std::ifstream file("/proc/self/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');  // The name may contain anything.
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(text.substr(name_end + 1));
    std::string skipped;
    constexpr int fields_before = 44;  // From the third field to the 46th: see proc(5).
    for (int i = 0; i < fields_before; ++i) rest >> skipped;
    std::uintptr_t address = 0;
    if (!(rest >> address) || address == 0) return std::nullopt;
    return address;
  }();
  return start;
}

bool is_in_heap(std::uintptr_t begin, std::uintptr_t end) {
  const std::optional<std::uintptr_t> start = start_of_heap();
  return start && *start <= begin && end <= reinterpret_cast<std::uintptr_t>(sbrk(0));
}

struct Block {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

std::uintptr_t word_at(std::uintptr_t address) {
  std::uintptr_t word = 0;
  std::memcpy(&word, pointer_to(address), sizeof word);
  return word;
}

/// Reads the header of a block with a mapping of its own: the bytes in front of the header (which
/// an aligned block has), and the length from the header on, with flags in its lowest bits.
std::optional<Block> block_at(std::uintptr_t header) {
  constexpr std::uintptr_t flags = 7;
  constexpr std::uintptr_t is_mapped = 2;
  const std::uintptr_t before = word_at(header);
  const std::uintptr_t length = word_at(header + sizeof before);
  if ((length & flags) != is_mapped || before > header) return std::nullopt;
  const Block block{.begin = header - before, .end = header + (length & ~flags)};
  if (block.begin % page_bytes != 0 || block.end % page_bytes != 0 || block.end <= header)
    return std::nullopt;
  return block;
}

/// Whether malloc has made a mapping for these bytes, or for what they are a part of, alone.
bool is_mapping_of_its_own(std::span<const std::byte> memory, const MemoryMap& map,
                           const MemoryMap::File& adopted) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t end = begin + memory.size();
  constexpr std::uintptr_t header_bytes = 2 * sizeof(std::uintptr_t);
  std::optional<MemoryMap::Area> area = map.at(begin - header_bytes);
  // Adopted pages divide what malloc has mapped.
  const auto is_known = [&](const MemoryMap::Area& each) {
    return each.is_writable &&
           (each.file == adopted || (each.file == MemoryMap::File{} && !each.is_shared));
  };
  if (!area || !is_known(*area)) return false;
  std::uintptr_t first = area->begin;
  while ((area = map.at(first - 1)) && is_known(*area)) first = area->begin;
  const auto holds = [&](const Block& block) {
    return block.begin >= first && block.begin + header_bytes <= begin && end <= block.end;
  };
  if (begin % header_bytes == 0) {
    const std::optional<Block> own = block_at(begin - header_bytes);
    if (own && holds(*own)) return true;
  }
  // Or the bytes are further inside of a block, which begins with a header on a page.
  for (std::uintptr_t page = page_of(memory.data()); page >= first; page -= page_bytes) {
    const std::optional<Block> block = block_at(page);
    if (block && block->begin == page && holds(*block)) return true;
  }
  return false;
}

}  // namespace

MallocMemory malloc_memory(std::span<const std::byte> memory, const MemoryMap& map,
                           const MemoryMap::File& adopted) {
  if (!has_glibc_malloc()) return MallocMemory::other;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t end = begin + memory.size();
  if (is_in_heap(begin, end)) return MallocMemory::heap;
  return is_mapping_of_its_own(memory, map, adopted) ? MallocMemory::mapping : MallocMemory::other;
}

}  // namespace tutti
