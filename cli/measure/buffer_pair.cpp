#include "cli/measure/buffer_pair.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <tutti/error.hpp>
#include <tutti/memory.hpp>

namespace tutti::measure {
namespace {

constexpr std::size_t page = 4096;

std::shared_ptr<std::byte> private_memory(std::size_t bytes) {
  const std::size_t whole_pages = (bytes + page - 1) / page * page;
  void* const memory = std::aligned_alloc(page, whole_pages);
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* each) { std::free(each); }};
}

std::shared_ptr<std::byte> shared_memory(std::size_t bytes) {
  try {
    return {static_cast<std::byte*>(allocate(bytes)), [](std::byte* each) { deallocate(each); }};
  } catch (const Error&) {
    return private_memory(bytes);  // Where no memory can be shared, ranks use TCP.
  }
}

std::shared_ptr<std::byte> memory(std::size_t bytes, BufferPair::Kind kind) {
  // A barrier has no data, but its buffers still need an address.
  const std::size_t least = std::max(bytes, page);
  return kind == BufferPair::Kind::shared ? shared_memory(least) : private_memory(least);
}

}  // namespace

BufferPair::BufferPair(std::size_t bytes, Kind kind)
    : first_(memory(bytes, kind)), second_(memory(bytes, kind)) {}

void BufferPair::clear(std::size_t bytes) const {
  std::memset(first(), 0, bytes);
  std::memset(second(), 0, bytes);
}

}  // namespace tutti::measure
