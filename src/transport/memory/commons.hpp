#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/memory/mailbox.hpp"

namespace tutti {

/// The memory that the ranks of one host share: a mailbox for each pair, a bell, a sign of
/// retirement and an outbox for each rank. A view: somebody else owns the bytes, be it a heap or a
/// mapped segment, which begin as zeros.
class Commons {
 public:
  /// How an outbox is divided: slots of one size, each for one piece on its way to one or more
  /// ranks.
  struct Outbox {
    std::uint32_t slots = 0;
    std::uint32_t slot_bytes = 0;
  };

  Commons(std::byte* base, std::uint32_t ranks, Outbox outbox)
      : base_(base), ranks_(ranks), outbox_(outbox) {}

  [[nodiscard]] static std::size_t size(std::uint32_t ranks, Outbox outbox) {
    return mailboxes_size(ranks) + bells_size(ranks) + retirements_size(ranks) +
           ranks * outbox_size(outbox);
  }

  [[nodiscard]] Mailbox& mailbox(std::uint32_t from, std::uint32_t to) const {
    return reinterpret_cast<Mailbox*>(base_)[std::size_t{to} * ranks_ + from];
  }
  [[nodiscard]] Bell& bell(std::uint32_t rank) const {
    return reinterpret_cast<Bell*>(base_ + mailboxes_size(ranks_))[rank];
  }
  [[nodiscard]] Retirement& retirement(std::uint32_t rank) const {
    return reinterpret_cast<Retirement*>(base_ + mailboxes_size(ranks_) + bells_size(ranks_))[rank];
  }
  [[nodiscard]] std::byte* outbox(std::uint32_t rank) const {
    return base_ + mailboxes_size(ranks_) + bells_size(ranks_) + retirements_size(ranks_) +
           rank * outbox_size(outbox_);
  }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] const Outbox& outbox_shape() const { return outbox_; }

 private:
  static constexpr std::size_t page = 4096;

  [[nodiscard]] static std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page - 1) / page * page;
  }
  [[nodiscard]] static std::size_t mailboxes_size(std::uint32_t ranks) {
    return whole_pages(sizeof(Mailbox) * ranks * ranks);
  }
  [[nodiscard]] static std::size_t bells_size(std::uint32_t ranks) {
    return whole_pages(sizeof(Bell) * ranks);
  }
  [[nodiscard]] static std::size_t retirements_size(std::uint32_t ranks) {
    return whole_pages(sizeof(Retirement) * ranks);
  }
  [[nodiscard]] static std::size_t outbox_size(Outbox outbox) {
    return whole_pages(std::size_t{outbox.slots} * outbox.slot_bytes);
  }

  std::byte* base_;
  std::uint32_t ranks_;
  Outbox outbox_;
};

}  // namespace tutti
