#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/memory/mailbox.hpp"

namespace tutti {

/// The memory that the ranks of one communicator share on one host: for each rank a bell and a sign
/// of retirement, and for each pair where its mailbox stands. A view: the arena owns the bytes,
/// which begin as zeros.
///
/// Mailboxes are made by their senders when they first send, each in its own stripe of the arena:
/// an algorithm in which a rank has few peers takes little memory however many ranks there are.
class Commons {
 public:
  /// Where a mailbox stands, in cache lines from the beginning of the arena; zero if it has not
  /// been made.
  using Place = std::atomic<std::uint32_t>;

  Commons(std::byte* base, std::uint32_t ranks) : base_(base), ranks_(ranks) {}

  [[nodiscard]] static std::size_t size(std::uint32_t ranks) {
    return (sizeof(Bell) + sizeof(Retirement)) * ranks + sizeof(Place) * ranks * ranks;
  }

  [[nodiscard]] Bell& bell(std::uint32_t rank) const {
    return reinterpret_cast<Bell*>(base_)[rank];
  }
  [[nodiscard]] Retirement& retirement(std::uint32_t rank) const {
    return reinterpret_cast<Retirement*>(base_ + sizeof(Bell) * ranks_)[rank];
  }
  [[nodiscard]] Place& mailbox(std::uint32_t from, std::uint32_t to) const {
    std::byte* const places = base_ + (sizeof(Bell) + sizeof(Retirement)) * ranks_;
    return reinterpret_cast<Place*>(places)[std::size_t{to} * ranks_ + from];
  }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

 private:
  std::byte* base_;
  std::uint32_t ranks_;
};

}  // namespace tutti
