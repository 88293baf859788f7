#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/memory/arena.hpp"
#include "transport/memory/descriptor_ring.hpp"

namespace tutti {

/// One rank's staging memory, shared by the ports of all its communicators. A slot holds one piece
/// of data in flight to one or more ranks.
///
/// No port can block the others. A port that holds half of the slots leaves some free, and a port
/// with nothing in flight to a peer always gets a slot for it, a small one if necessary. Otherwise
/// data that no receiver takes yet could hold back data that another rank waits for: a deadlock.
///
/// Thread-safe.
class Outbox {
 public:
  static constexpr std::uint32_t usual_slots = 16;
  static constexpr std::uint32_t usual_slot_bytes = 1U << 16;

  /// The slots that one port holds, by flow: a flow is one peer, or all sends to several
  /// peers. Only the outbox accesses it.
  class Quota {
   public:
    explicit Quota(std::size_t flows) : by_flow_(flows) {}

   private:
    friend class Outbox;
    std::uint32_t held_ = 0;
    std::vector<std::uint32_t> by_flow_;
  };

  struct Reader {
    const DescriptorRing* ring;
    std::uint32_t turn;  ///< Turn of the descriptor that refers to the slot.
  };
  struct Slot {
    std::uint64_t offset = 0;  ///< In the arena.
    std::uint32_t bytes = 0;
    /// The ranks that have not read it yet. Written by the port that holds the slot, before post().
    std::vector<Reader> readers{};
    std::atomic<bool> is_posted{false};
    Quota* quota = nullptr;
    std::uint32_t flow = 0;
  };

  /// A slot has at most `most_readers` readers.
  Outbox(Arena& arena, std::size_t most_readers, std::uint32_t slots = usual_slots,
         std::uint32_t slot_bytes = usual_slot_bytes);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// A slot to fill; null if none is available now.
  [[nodiscard]] Slot* take(Quota& quota, std::uint32_t flow);
  /// Call before posting the descriptors that refer to the slot. It is free again once all readers
  /// have finished.
  static void post(Slot& slot) { slot.is_posted.store(true, std::memory_order_release); }
  /// Returns a slot that was not posted.
  void give_back(Slot& slot);
  /// True if all data of the quota has been read. The quota may then be destroyed.
  [[nodiscard]] bool is_clear(const Quota& quota);
  /// Frees all slots of the quota. Requires: no rank reads them any more.
  void forget(Quota& quota);

  [[nodiscard]] std::uint32_t slot_bytes() const { return slot_bytes_; }

 private:
  class Lock;

  void reclaim();
  void free(Slot& slot);
  [[nodiscard]] static bool is_read(Slot& slot);
  [[nodiscard]] Slot& give(Slot& slot, Quota& quota, std::uint32_t flow);
  [[nodiscard]] Slot* small_slot();
  Slot& make_slot(std::uint64_t offset, std::uint32_t bytes);

  Arena& arena_;
  std::size_t most_readers_;
  std::uint32_t slot_bytes_;
  std::size_t reserve_;  // Slots that a port with many slots leaves for others.
  std::atomic<bool> is_locked_{false};
  std::deque<Slot> slots_;  // A deque, for stable addresses.
  std::vector<Slot*> free_;
  std::vector<Slot*> free_small_;
  std::vector<Slot*> busy_;
};

}  // namespace tutti
