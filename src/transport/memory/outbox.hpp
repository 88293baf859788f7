#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/memory/arena.hpp"
#include "transport/memory/mailbox.hpp"

namespace tutti {

/// One rank's staging memory, for the ports of all its communicators: slots, each for one piece of
/// data on its way to one or more ranks.
///
/// No port can keep the others from sending. One that holds half of the slots leaves some for
/// others, and a port that has nothing on its way to a peer always gets a slot for it, a small one
/// if need be. Otherwise data that nobody takes yet could keep back data that others wait for, and
/// all would wait in a circle.
///
/// Thread-safe.
class Outbox {
 public:
  static constexpr std::uint32_t usual_slots = 16;
  static constexpr std::uint32_t usual_slot_bytes = 1U << 16;

  /// What one port has on its way, by customer: data for one peer, or for several at once. Only the
  /// outbox looks inside.
  class Account {
   public:
    explicit Account(std::size_t customers) : by_customer_(customers) {}

   private:
    friend class Outbox;
    std::uint32_t held_ = 0;
    std::vector<std::uint32_t> by_customer_;
  };

  struct Reader {
    const Mailbox* box;
    std::uint32_t turn;  ///< Of the note that tells of the slot.
  };
  struct Slot {
    std::uint64_t offset = 0;  ///< In the arena.
    std::uint32_t bytes = 0;
    /// Who has still to read it. Written by the port that has the slot, before it is posted.
    std::vector<Reader> readers{};
    std::atomic<bool> is_posted{false};
    Account* account = nullptr;
    std::uint32_t customer = 0;
  };

  /// What is on its way goes to `most_readers` ranks at once at most.
  Outbox(Arena& arena, std::size_t most_readers, std::uint32_t slots = usual_slots,
         std::uint32_t slot_bytes = usual_slot_bytes);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// A slot to be filled; null if there is none to be had now.
  [[nodiscard]] Slot* take(Account& account, std::uint32_t customer);
  /// The notes about it are about to be posted; when all its readers are done, it is free again.
  static void post(Slot& slot) { slot.is_posted.store(true, std::memory_order_release); }
  /// Whether everything of an account has been read. Then the account may go.
  [[nodiscard]] bool is_clear(const Account& account);
  /// Nobody reads any more what the account has on its way.
  void forget(Account& account);

  [[nodiscard]] std::uint32_t slot_bytes() const { return slot_bytes_; }

 private:
  class Lock;

  void reclaim();
  void free(Slot& slot);
  [[nodiscard]] static bool is_read(Slot& slot);
  [[nodiscard]] Slot& give(Slot& slot, Account& account, std::uint32_t customer);
  [[nodiscard]] Slot* small_slot();
  Slot& make_slot(std::uint64_t offset, std::uint32_t bytes);

  Arena& arena_;
  std::size_t most_readers_;
  std::uint32_t slot_bytes_;
  std::size_t reserve_;  // How many slots a port that has many leaves for others.
  std::atomic<bool> is_locked_{false};
  std::deque<Slot> slots_;  // Stay where they are.
  std::vector<Slot*> free_;
  std::vector<Slot*> free_small_;
  std::vector<Slot*> busy_;
};

}  // namespace tutti
