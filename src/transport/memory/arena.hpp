#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include <tutti/error.hpp>

namespace tutti {

/// An allocator in memory that all ranks of a host share. Each rank has a stripe, in which only
/// that rank allocates. So ranks share no lock, and a rank that dies leaves none held. A block is
/// identified by its offset in the whole memory, which is the same for all ranks.
///
/// A view: a segment or another mapping owns the bytes. They are zero at first and take no memory
/// until they are touched. Thread-safe.
class Arena {
 public:
  Arena(std::byte* base, std::size_t stripe_bytes, std::uint32_t own_stripe);

  /// Allocates a zeroed, page-aligned block in this rank's stripe and returns its offset, which is
  /// never 0. Throws unsupported if the stripe is full or the system has no memory.
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes);
  /// Requires: allocate() returned `offset`, and no rank uses the block.
  void release(std::uint64_t offset);

  [[nodiscard]] std::byte* at(std::uint64_t offset) const { return base_ + offset; }

  /// Size of the mapping for so many stripes.
  [[nodiscard]] static std::size_t size(std::size_t stripe_bytes, std::uint32_t stripes) {
    return page + stripe_bytes * stripes;
  }
  /// The default size of a stripe.
  [[nodiscard]] static std::size_t usual_stripe(std::uint32_t stripes);
  /// Returns make(stripe_bytes) with the longest stripes for which it does not throw: the address
  /// space may be limited.
  template <class Make>
  [[nodiscard]] static auto make_stripes(std::uint32_t stripes, const Make& make) {
    for (std::size_t bytes = usual_stripe(stripes);; bytes /= 2) {
      try {
        return make(bytes);
      } catch (const Error&) {
        if (bytes / 2 < least_stripe) throw;
      }
    }
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t least_stripe = std::size_t{2} << 20;

  std::byte* base_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::mutex mutex_;
  std::uint64_t touched_;                         // End of the memory ever allocated.
  std::map<std::uint64_t, std::uint64_t> free_;   // Offset → bytes, below touched_.
  std::map<std::uint64_t, std::uint64_t> taken_;  // Offset → bytes.
};

}  // namespace tutti
