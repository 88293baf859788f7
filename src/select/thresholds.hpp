#pragma once

#include <array>
#include <cstddef>

#include <tutti/collective.hpp>

#include "select/reach.hpp"

namespace tutti {

inline constexpr std::size_t collective_count = 9;
using BytesByCollective = std::array<std::size_t, collective_count>;

[[nodiscard]] constexpr BytesByCollective for_all_collectives(std::size_t bytes) {
  BytesByCollective all{};
  all.fill(bytes);
  return all;
}

/// The sizes at which a call moves its data in another way, in bytes. All ranks of a call have the
/// same. Part of a profile; docs/performance.md has the measurements.
struct Thresholds {
  static constexpr std::size_t never = ~std::size_t{0};

  /// Data is sent in slices of this size, so that receivers copy one while the next is copied to
  /// them. Through memory 64 KiB are within 4 % of the best, over TCP 512 KiB.
  std::size_t slice_bytes = std::size_t{1} << 16;
  /// By collective: messages of at least this many bytes are read where they are, by ranks that can
  /// see them. Copying shorter ones takes less time than waiting until they have been read.
  BytesByCollective direct_from = for_all_collectives(2048);
  /// By collective: messages of at least this many bytes that are not in shared memory are copied
  /// once, by the kernel, which costs a system call.
  BytesByCollective single_copy_from = for_all_collectives(never);
  /// Longer messages are cut into segments of this size, so that a result is written to its
  /// receivers while its operands are in the cache; 0: they are not.
  std::size_t segment_bytes = 0;
  /// Calls whose messages have at most this many bytes are run in order, without a look at what
  /// else could advance. Longer messages of ranks that see each other's memory need not wait for
  /// room either, unless the reader must first get a core.
  std::size_t in_order_to = 4096;
  /// Algorithms that keep data in scratch memory are run in parts of this size, so that no call
  /// needs more scratch memory than twice this.
  std::size_t part_bytes = std::size_t{4} << 20;

  /// For ranks that reach each other in this way, before anything is measured.
  [[nodiscard]] static constexpr Thresholds usual(const Reach& reach) {
    Thresholds usual;
    if (!in_memory(reach)) return usual;
    usual.segment_bytes = std::size_t{1} << 16;
    if (!reach.crowded) usual.in_order_to = std::size_t{1} << 16;
    return usual;
  }

  friend bool operator==(const Thresholds&, const Thresholds&) = default;
};

}  // namespace tutti
