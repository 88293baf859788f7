// The part of a memory port that deals with several peers at once: one call for all of them, and
// what they have in common is found once.
#include <algorithm>
#include <cstring>

#include "transport/memory/memory_port-inl.hpp"

namespace tutti {

std::size_t MemoryPort::arrived_from_each(std::span<const Rank> peers,
                                          std::span<const void*> data) {
  std::size_t least = ~std::size_t{0};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    Inbound& in = in_[peers[i].index()];
    if (!open(peers[i], in)) return 0;
    if (in.is_remote) fill_copy(in);
    data[i] = in.data;
    least = std::min(least, in.is_remote ? in.fetched : in.left);
  }
  return least;
}

void MemoryPort::consume_from_each(std::span<const Rank> peers, std::size_t bytes) {
  for (const Rank peer : peers) finish(peer, in_[peer.index()], bytes);
}

bool MemoryPort::all_released(std::span<const Rank> peers) {
  for (const Rank peer : peers) {
    Outbound& out = out_[peer.index()];
    if (!out.lends) continue;
    if (!reached(out.done, out.last_lent)) refresh(out);
    out.lends = !reached(out.done, out.last_lent);
    if (out.lends) return false;
  }
  return true;
}

bool MemoryPort::send_each(const Shipment& shipment, std::span<std::uint64_t> positions) {
  for (const Parcel& each : shipment.parcels) {
    if (!has_room(out_[each.peer.index()])) return false;
  }
  if (shipment.longest <= Note::most_enclosed) {
    for (const Parcel& each : shipment.parcels) {
      positions[each.index] = out_[each.peer.index()].sent;
      enclose(each.peer, shipment.data.subspan(each.offset, each.bytes));
    }
    return true;
  }
  if (shipment.shortest <= Note::most_enclosed) return false;
  const std::optional<std::uint64_t> windows = whole_place(shipment.windows);
  // A peer that fills a window also says that it has read the data, so even short data is lent.
  std::optional<std::uint64_t> lent;
  if (windows || shipment.longest >= least_direct_) lent = whole_place(shipment.data);
  if (lent && !windows && shipment.shortest < least_direct_) return false;
  Outbox::Slot* const slot = lent ? nullptr : stage(shipment);
  if (!lent && slot == nullptr) return false;
  // From here on another port may get the slot as soon as all readers have finished.
  const std::uint64_t data = lent ? *lent : slot->offset;
  if (lent) {
    for (const Parcel& each : shipment.parcels) prefetch_next_note(each.peer);
  }
  for (const Parcel& each : shipment.parcels) {
    Outbound& out = out_[each.peer.index()];
    const Inbound& in = in_[each.peer.index()];
    positions[each.index] = out.sent;
    Note::Exposure window;
    if (windows) {
      window.where = *windows + each.window_offset;
      window.at = in.consumed + each.before;
      window.after =
          each.shift ? out.sent + static_cast<std::uint64_t>(*each.shift) : may_write_at_once;
      window.bytes = each.window_bytes;
      note_exposed(out, shipment.windows.subspan(each.window_offset, each.window_bytes));
    }
    if (lent) {
      out.lends = true;
      out.last_lent = out.turn;
    }
    post(out, in, lent ? Note::Kind::direct : Note::Kind::staged, data + each.offset, window,
         each.bytes);
  }
  return true;
}

/// Where other ranks find these bytes; none if they cannot see all of them in one window.
std::optional<std::uint64_t> MemoryPort::whole_place(std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto published = publish(bytes, 0);
  if (!published || published->bytes < bytes.size()) return std::nullopt;
  return published->where;
}

bool MemoryPort::shares(std::span<const std::byte> data) {
  const bool has_own_core = patience_.spins > 0;
  return has_own_core && whole_place(data).has_value();
}

/// Copies the parcels into a slot of the outbox, at their offsets, ready to be posted. Null if
/// there is none, or if they are too far apart. Other ranks may be writing to what is between them.
Outbox::Slot* MemoryPort::stage(const Shipment& shipment) {
  const std::size_t bytes = shipment.data.size();
  if (shipment.parcels.size() < 2 || bytes > transport_.outbox().slot_bytes() ||
      reserved_ != nullptr) {
    return nullptr;
  }
  const auto to_several = static_cast<std::uint32_t>(out_.size());
  Outbox::Slot* const slot = transport_.outbox().take(*remains_.account, to_several);
  if (slot == nullptr) return nullptr;
  if (slot->bytes < bytes) {
    transport_.outbox().give_back(*slot);
    return nullptr;
  }
  std::byte* const to = transport_.arena().at(slot->offset);
  for (const Parcel& each : shipment.parcels) {
    std::memcpy(to + each.offset, shipment.data.data() + each.offset, each.bytes);
    const Outbound& out = out_[each.peer.index()];
    slot->readers.push_back({.box = out.box, .turn = out.turn});
  }
  Outbox::post(*slot);
  return slot;
}

std::size_t MemoryPort::receive_each(std::span<const Parcel> parcels, std::byte* to, bool if_put) {
  // The notes of the next peers are fetched meanwhile: each is in the cache of another core.
  constexpr std::size_t ahead = 4;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    if (i + ahead < parcels.size()) {
      const Inbound& later = in_[parcels[i + ahead].peer.index()];
      if (later.box != nullptr) __builtin_prefetch(&later.box->note(later.turn));
    }
    const Parcel& each = parcels[i];
    Inbound& in = in_[each.peer.index()];
    if (!open(each.peer, in) || in.left < each.bytes || in.is_remote) return i;
    std::byte* const target = to + each.offset;
    if (in.data != target) {  // Else its sender has put it there.
      if (if_put) return i;
      if (in.is_lent) prefetch_to_write(&in.box->done);
      if (each.bytes <= longest_short_copy) {
        short_copy(target, in.data, each.bytes);
      } else {
        std::memcpy(target, in.data, each.bytes);
      }
    }
    finish(each.peer, in, each.bytes);
  }
  return parcels.size();
}

}  // namespace tutti
