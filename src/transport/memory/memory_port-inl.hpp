#pragma once

// The parts of a memory port that deal with single descriptors: they are inlined wherever
// descriptors are read and written.
#include "core/short_copy.hpp"
#include "transport/memory/memory_port.hpp"

namespace tutti {

/// Starts to fetch a cache line that will be written soon and is in the cache of another core. A
/// store to it would keep all later stores waiting. It must not be a line that the other core polls
/// meanwhile.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // Compilers emit this instruction only for processors that have it. On others it does nothing.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Opens the next descriptor from a peer, unless one is open. False if there is none.
inline bool MemoryPort::open(Rank peer, Inbound& in) {
  if (in.data != nullptr) return true;
  if (in.ring == nullptr && !find_ring(in)) return false;
  const Descriptor& descriptor = in.ring->at(in.turn);
  if (descriptor.turn.load(std::memory_order_acquire) != in.turn) return false;
  if (descriptor.call != tag_) refuse_call(peer);
  in.left = descriptor.bytes;
  if (descriptor.kind == Descriptor::Kind::inlined) {
    in.is_in_place = in.is_remote = false;
    in.data = descriptor.data.data();
  } else {
    find_data(peer, in, descriptor);
  }
  return true;
}

/// Consumes bytes of the open descriptor.
inline void MemoryPort::finish(Rank peer, Inbound& in, std::size_t bytes) {
  in.data += bytes;
  in.left -= bytes;
  in.consumed += bytes;
  if (in.left > 0) {
    if (in.is_remote) in.fetched -= bytes;
    return;
  }
  if (in.is_in_place) require_unchanged(peer);
  in.data = nullptr;
  in.ring->done.store(in.turn++, std::memory_order_release);
  wake(in.place);
}

inline bool MemoryPort::has_room(Outbound& out) {
  const auto full = [&] { return out.turn - out.done > DescriptorRing::capacity; };
  if (!full()) {
    if (out.ring == nullptr) make_ring(out);
    return true;
  }
  refresh(out);
  return !full();
}

inline bool MemoryPort::have_room(std::span<const Rank> peers) {
  for (const Rank peer : peers) {
    if (!has_room(out_[peer])) return false;
  }
  return true;
}

inline void MemoryPort::prefetch_next_descriptor(Rank peer) const {
  const Outbound& out = out_[peer];
  prefetch_to_write(&out.ring->at(out.turn));
}

/// Posts the next descriptor. Inline data must already be in it.
inline void MemoryPort::add_descriptor(Outbound& out, const Inbound& in, const Way& way,
                                       const Descriptor::Window& window) {
  Descriptor& descriptor = out.ring->at(out.turn);
  descriptor.bytes = static_cast<std::uint32_t>(way.bytes);
  descriptor.call = tag_;
  descriptor.kind = way.kind;
  if (way.kind != Descriptor::Kind::inlined) descriptor.place.write(way.where, window, in.turn - 1);
  (*out.begins)[out.turn % DescriptorRing::capacity] = out.sent;
  descriptor.turn.store(out.turn++, std::memory_order_release);
  out.sent += way.bytes;
  wake(out.place);
}

inline void MemoryPort::post_inline(Rank peer, std::span<const std::byte> data) {
  Outbound& out = out_[peer];
  short_copy(out.ring->at(out.turn).data.data(), data.data(), data.size());
  add_descriptor(out, in_[peer], {.bytes = data.size()}, {});
}

/// Stages data in the slot of the next descriptor.
inline void MemoryPort::post_short(Rank peer, std::span<const std::byte> data,
                                   const Descriptor::Window& window) {
  Outbound& out = out_[peer];
  if (out.slots == 0) out.slots = make_block(sizeof(DescriptorRing::Slots));
  const std::uint64_t where =
      out.slots + out.turn % DescriptorRing::capacity * sizeof(DescriptorRing::Slot);
  std::memcpy(transport_.arena().at(where), data.data(), data.size());
  add_descriptor(out, in_[peer],
                 {.kind = Descriptor::Kind::staged, .where = where, .bytes = data.size()}, window);
}

/// Sends data that the peer reads in this rank's own memory.
inline void MemoryPort::post_in_place(Rank peer, const Way& way, const Descriptor::Window& window) {
  Outbound& out = out_[peer];
  out.is_outstanding = true;
  out.last_outstanding = out.turn;
  add_descriptor(out, in_[peer], way, window);
}

}  // namespace tutti
