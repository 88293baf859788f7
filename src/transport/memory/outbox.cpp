#include "transport/memory/outbox.hpp"

#include <sched.h>

#include <algorithm>

namespace tutti {
namespace {

/// Size of a slot that is added when all others are in use.
constexpr std::uint32_t small_slot_bytes = 4096;

}  // namespace

/// A spin lock: held for tens of nanoseconds and rarely contended, it is cheaper than a mutex.
class Outbox::Lock {
 public:
  explicit Lock(Outbox& outbox) : outbox_(outbox) {
    while (outbox.is_locked_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Lock() { outbox_.is_locked_.store(false, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Outbox& outbox_;
};

Outbox::Outbox(Arena& arena, std::size_t most_readers, std::uint32_t slots,
               std::uint32_t slot_bytes)
    : arena_(arena), most_readers_(most_readers), slot_bytes_(slot_bytes), reserve_(slots / 4) {
  const std::uint64_t base = arena.allocate(std::size_t{slots} * slot_bytes);
  for (std::uint32_t i = 0; i < slots; ++i) {
    free_.push_back(&make_slot(base + std::uint64_t{i} * slot_bytes, slot_bytes));
  }
  busy_.reserve(slots);
}

Outbox::Slot& Outbox::make_slot(std::uint64_t offset, std::uint32_t bytes) {
  Slot& slot = slots_.emplace_back();
  slot.offset = offset;
  slot.bytes = bytes;
  slot.readers.reserve(most_readers_);
  return slot;
}

Outbox::Slot* Outbox::take(Quota& quota, std::uint32_t flow) {
  const Lock lock(*this);
  const bool has_some = quota.by_flow_[flow] > 0;
  const bool has_many = quota.held_ >= 2 * reserve_;
  const std::size_t left_alone = (has_many ? reserve_ : 0) + (has_some ? 1 : 0);
  if (free_.size() <= left_alone) reclaim();
  if (free_.size() > left_alone) {
    // LIFO: the slot that was freed last is most likely still in the cache.
    Slot& slot = *free_.back();
    free_.pop_back();
    return &give(slot, quota, flow);
  }
  if (quota.by_flow_[flow] > 0) return nullptr;
  Slot* const slot = small_slot();
  return slot == nullptr ? nullptr : &give(*slot, quota, flow);
}

Outbox::Slot& Outbox::give(Slot& slot, Quota& quota, std::uint32_t flow) {
  ++quota.held_;
  ++quota.by_flow_[flow];
  slot.quota = &quota;
  slot.flow = flow;
  slot.readers.clear();
  slot.is_posted.store(false, std::memory_order_relaxed);
  busy_.push_back(&slot);
  return slot;
}

Outbox::Slot* Outbox::small_slot() {
  if (free_small_.empty()) {
    try {
      return &make_slot(arena_.allocate(small_slot_bytes), small_slot_bytes);
    } catch (const std::exception&) {
      return nullptr;  // The caller retries when other slots are free.
    }
  }
  Slot* const slot = free_small_.back();
  free_small_.pop_back();
  return slot;
}

void Outbox::give_back(Slot& slot) {
  const Lock lock(*this);
  std::erase(busy_, &slot);
  free(slot);
}

bool Outbox::is_clear(const Quota& quota) {
  const Lock lock(*this);
  if (quota.held_ > 0) reclaim();
  return quota.held_ == 0;
}

void Outbox::forget(Quota& quota) {
  const Lock lock(*this);
  std::erase_if(busy_, [&](Slot* slot) {
    if (slot->quota != &quota) return false;
    free(*slot);
    return true;
  });
}

void Outbox::reclaim() {
  std::erase_if(busy_, [&](Slot* slot) {
    if (!slot->is_posted.load(std::memory_order_acquire) || !is_read(*slot)) return false;
    free(*slot);
    return true;
  });
}

void Outbox::free(Slot& slot) {
  --slot.quota->held_;
  --slot.quota->by_flow_[slot.flow];
  (slot.bytes == slot_bytes_ ? free_ : free_small_).push_back(&slot);
}

bool Outbox::is_read(Slot& slot) {
  while (!slot.readers.empty()) {
    const Reader& reader = slot.readers.back();
    if (!reached(reader.ring->done.load(std::memory_order_acquire), reader.turn)) return false;
    slot.readers.pop_back();
  }
  return true;
}

}  // namespace tutti
