#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti {

inline constexpr std::size_t longest_short_copy = 64;

/// Copies up to `most` bytes without a call: for a few bytes a call of memcpy takes longer than the
/// copy. The first and the last bytes may overlap in the middle.
template <std::size_t most = longest_short_copy>
[[gnu::always_inline]] inline void short_copy(void* to, const void* from, std::size_t bytes) {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  const auto both_ends = [&](auto block) {
    auto last = block;
    std::memcpy(&block, source, sizeof block);
    std::memcpy(&last, source + bytes - sizeof block, sizeof block);
    std::memcpy(target, &block, sizeof block);
    std::memcpy(target + bytes - sizeof block, &last, sizeof block);
  };
  struct Sixteen {
    std::uint64_t words[2];
  };
  struct ThirtyTwo {
    std::uint64_t words[4];
  };
  if (most >= 32 && bytes >= 32) {
    both_ends(ThirtyTwo{});
  } else if (most >= 16 && bytes >= 16) {
    both_ends(Sixteen{});
  } else if (bytes >= 8) {
    both_ends(std::uint64_t{});
  } else if (bytes >= 4) {
    both_ends(std::uint32_t{});
  } else if (bytes >= 2) {
    both_ends(std::uint16_t{});
  } else if (bytes == 1) {
    *target = *source;
  }
}

}  // namespace tutti
