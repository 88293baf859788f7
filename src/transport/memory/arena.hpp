#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace tutti {

/// Memory that all ranks of a host see, as one of them: a stripe for each, in which only that rank
/// gives out blocks, so that no lock is shared and nobody who dies leaves one held. A block is
/// named by its offset in the whole, which means the same to all.
///
/// A view: a segment or another mapping owns the bytes, which begin as zeros and take no memory
/// until they are touched. Thread-safe.
class Arena {
 public:
  Arena(std::byte* base, std::size_t stripe_bytes, std::uint32_t own_stripe);

  /// A block of zeros of this rank's stripe, on a page's boundary: where it begins. Never zero.
  /// Throws unsupported if the stripe is full or the system has no memory.
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes);
  /// Requires: allocate() returned it, and no rank uses it any more.
  void release(std::uint64_t offset);

  [[nodiscard]] std::byte* at(std::uint64_t offset) const { return base_ + offset; }

  /// How large a mapping is that has a stripe for each of so many ranks.
  [[nodiscard]] static std::size_t size(std::size_t stripe_bytes, std::uint32_t stripes) {
    return page + stripe_bytes * stripes;
  }
  /// How many bytes a stripe may best have.
  [[nodiscard]] static std::size_t usual_stripe(std::uint32_t stripes);

 private:
  static constexpr std::size_t page = 4096;

  std::byte* base_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::mutex mutex_;
  std::uint64_t touched_;                         // Up to here blocks have been given out before.
  std::map<std::uint64_t, std::uint64_t> free_;   // Offset → bytes, below touched_.
  std::map<std::uint64_t, std::uint64_t> taken_;  // Offset → bytes.
};

}  // namespace tutti
