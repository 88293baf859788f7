#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// The sizes of cached blocks: 1 to 4 pages, and then four sizes for each power of two. So a block
/// is at most a quarter longer than what was asked for, rounded up to pages.
class SizeClass {
 public:
  /// Enough for every address of a process.
  static constexpr std::uint32_t count = 140;
  static constexpr std::uint64_t page = 4096;

  explicit constexpr SizeClass(std::uint32_t index) : index_(index) {}

  /// The smallest class of at least so many bytes. Requires: they fit in the address space.
  [[nodiscard]] static constexpr SizeClass of(std::size_t bytes) {
    const std::uint64_t last = std::max<std::uint64_t>(bytes, 1) - 1;
    const std::uint64_t last_page = last / page;
    if (last_page < 4) return SizeClass(static_cast<std::uint32_t>(last_page));
    const auto shift = static_cast<std::uint32_t>(std::bit_width(last_page)) - 3;
    return SizeClass(4 * shift + static_cast<std::uint32_t>(last_page >> shift));
  }

  [[nodiscard]] constexpr std::uint32_t index() const { return index_; }
  [[nodiscard]] constexpr std::uint64_t bytes() const {
    if (index_ < 4) return (index_ + 1) * page;
    const std::uint32_t shift = index_ / 4 - 1;
    return (std::uint64_t{index_ % 4 + 5} << shift) * page;
  }

 private:
  std::uint32_t index_;
};

}  // namespace tutti
