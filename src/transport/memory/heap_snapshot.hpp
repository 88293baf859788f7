#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A copy of a heap's contents for a child about to be forked. The pages of a shared file are
/// shared with the child, too, so that it would see what its parent writes after the fork.
///
/// The parent makes the copy, because it need not wait for the child then, and drops it after the
/// fork. The child puts it in the place of the heap, which copies nothing.
class HeapSnapshot {
 public:
  /// Pages of the heap.
  struct Range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  /// How many bytes are copied for one child, which takes about 0.2 s.
  static constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

  /// Copies these blocks from a file of `bytes` bytes, the shortest ones first, as long as they fit
  /// in `most`. `untouched` are pages to leave as they are. None if the system has no memory for
  /// it.
  [[nodiscard]] static std::optional<HeapSnapshot> of(int fd, std::uint64_t bytes,
                                                      std::vector<Range> blocks,
                                                      std::vector<Range> untouched,
                                                      std::uint64_t most = most_bytes);
  ~HeapSnapshot();
  HeapSnapshot(HeapSnapshot&& other) noexcept;
  HeapSnapshot& operator=(HeapSnapshot&& other) noexcept;

  /// Whether the block that begins here was copied.
  [[nodiscard]] bool has(std::uint64_t offset) const;
  /// Moves the copy to where the heap is mapped. Blocks that were not copied keep their mapping.
  /// All other contents of the heap are lost.
  void replace(std::byte* heap);

 private:
  HeapSnapshot(std::byte* base, std::uint64_t bytes) : base_(base), bytes_(bytes) {}

  [[nodiscard]] bool copy(int fd, Range block);

  std::byte* base_;
  std::uint64_t bytes_;
  std::vector<Range> kept_;  // Not replaced. In order.
};

}  // namespace tutti
