#include "cli/bench/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <tutti/error.hpp>
#include <tutti/memory.hpp>

namespace tutti::cli {
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
    return private_memory(bytes);  // Where none can be shared, ranks use TCP, from any memory.
  }
}

}  // namespace

BenchMemory::BenchMemory(std::size_t bytes, Kind kind) {
  // A barrier has no data, but a buffer is a buffer.
  const std::size_t least = std::max(bytes, page);
  memory_ = kind == Kind::shared ? shared_memory(least) : private_memory(least);
}

}  // namespace tutti::cli
