#include "core/unshared_descriptors.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tutti {
namespace {

/// More than a process may open on most systems. Children keep descriptors above this number.
constexpr std::size_t most = std::size_t{1} << 20;
constexpr std::size_t word_bits = 64;

/// A bitmap of descriptors, because a child must neither lock nor allocate here. Untouched pages
/// take no memory.
constinit std::array<std::atomic<std::uint64_t>, most / word_bits> words{};
/// Only words below this index may hold bits.
constinit std::atomic<std::size_t> end{0};

std::uint64_t bit_of(std::size_t fd) { return std::uint64_t{1} << fd % word_bits; }

void close_all() {
  for (std::size_t i = 0; i < end.load(std::memory_order_relaxed); ++i) {
    std::uint64_t bits = words[i].exchange(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) {
      close(static_cast<int>(i * word_bits + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

[[maybe_unused]] const bool is_registered = pthread_atfork(nullptr, nullptr, close_all) == 0;

}  // namespace

void UnsharedDescriptors::add(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= most) return;
  const std::size_t needed = index / word_bits + 1;
  std::size_t so_far = end.load(std::memory_order_relaxed);
  while (so_far < needed && !end.compare_exchange_weak(so_far, needed)) {
  }
  words[index / word_bits].fetch_or(bit_of(index));
}

void UnsharedDescriptors::remove(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= most) return;
  words[index / word_bits].fetch_and(~bit_of(index));
}

}  // namespace tutti
