#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/memory/descriptor_ring.hpp"

namespace tutti {

/// The memory that the ranks of one communicator share on one host: a bell and the flags of each
/// rank, and the place of the ring for each pair. A view: the arena owns the bytes,
/// which are zero at first.
///
/// A sender allocates its ring in its own stripe of the arena at the first send. So an algorithm
/// with few peers per rank takes little memory, however many ranks there are.
class SharedHeader {
 public:
  /// Offset of a ring in the arena, in cache lines; 0 if it does not exist yet.
  using Place = std::atomic<std::uint32_t>;

  SharedHeader(std::byte* base, std::uint32_t ranks) : base_(base), ranks_(ranks) {}

  [[nodiscard]] static std::size_t size(std::uint32_t ranks) {
    return per_rank * ranks + sizeof(Place) * ranks * ranks;
  }

  [[nodiscard]] Bell& bell(std::uint32_t rank) const {
    return reinterpret_cast<Bell*>(base_)[rank];
  }
  [[nodiscard]] Retirement& retirement(std::uint32_t rank) const {
    return reinterpret_cast<Retirement*>(base_ + sizeof(Bell) * ranks_)[rank];
  }
  [[nodiscard]] Putting& putting(std::uint32_t rank) const {
    return reinterpret_cast<Putting*>(base_ + (sizeof(Bell) + sizeof(Retirement)) * ranks_)[rank];
  }
  [[nodiscard]] Place& ring(std::uint32_t from, std::uint32_t to) const {
    std::byte* const places = base_ + per_rank * ranks_;
    return reinterpret_cast<Place*>(places)[std::size_t{to} * ranks_ + from];
  }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

 private:
  static constexpr std::size_t per_rank = sizeof(Bell) + sizeof(Retirement) + sizeof(Putting);

  std::byte* base_;
  std::uint32_t ranks_;
};

}  // namespace tutti
