#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

inline constexpr std::size_t page_bytes = 4096;

/// The address of the page that contains a byte.
[[nodiscard]] inline std::uintptr_t page_of(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) / page_bytes * page_bytes;
}

[[nodiscard]] inline std::byte* pointer_to(std::uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's addresses are numbers.
  return reinterpret_cast<std::byte*>(address);
}

/// The pages that contain these bytes.
[[nodiscard]] inline std::span<std::byte> pages_around(std::span<const std::byte> memory) {
  const std::uintptr_t begin = page_of(memory.data());
  const std::uintptr_t end = page_of(memory.data() + memory.size() + page_bytes - 1);
  return {pointer_to(begin), end - begin};
}

/// The pages of which all bytes are among these.
[[nodiscard]] inline std::span<std::byte> pages_within(std::span<const std::byte> memory) {
  const std::uintptr_t begin = page_of(memory.data() + page_bytes - 1);
  const std::uintptr_t end = page_of(memory.data() + memory.size());
  return {pointer_to(begin), end > begin ? end - begin : 0};
}

}  // namespace tutti
