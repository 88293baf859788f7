// The part of a memory port that sends.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/memory/memory_port-inl.hpp"

namespace tutti {
namespace {

/// The length in a descriptor has 32 bits. A multiple of the cache line, so that longer data
/// is split on a cache line.
constexpr std::size_t longest_descriptor = std::size_t{1} << 30;

constexpr std::size_t ring_block = 4096;
constexpr std::uint32_t rings_per_block = ring_block / sizeof(DescriptorRing);

/// The bytes that a piece of data takes in a slot that it shares with others.
constexpr std::size_t in_slot(std::size_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

}  // namespace

/// Memory that the peers read until they have left.
std::uint64_t MemoryPort::make_block(std::size_t bytes) {
  closing_.blocks.push_back(transport_.arena().allocate(bytes));
  return closing_.blocks.back();
}

void MemoryPort::make_ring(Outbound& out) {
  if (free_rings_ == 0) {
    next_ring_ = make_block(ring_block);
    free_rings_ = rings_per_block;
  }
  const std::uint64_t offset = next_ring_;
  next_ring_ += sizeof(DescriptorRing);
  --free_rings_;
  out.ring = reinterpret_cast<DescriptorRing*>(transport_.arena().at(offset));
  out.begins = std::make_unique<Begins>();
  header_.ring(self_, out.place)
      .store(static_cast<std::uint32_t>(offset / cache_line), std::memory_order_release);
}

// A structure that was written member by member must not be copied here: the copy would wait until
// all that was stored before has left the core, which takes as long as a message.
Port::Posted MemoryPort::post(std::span<const Send> sends) {
  Posted posted;
  for (const Send& send : sends) {
    if (send.is_prepared) {
      post_prepared(send);
      ++posted.sends;
      continue;
    }
    if (send.data.size() > Descriptor::most_inline) {
      post_long(sends, posted);
      break;
    }
    if (!have_room(send.peers)) break;
    for (const Rank peer : send.peers) post_inline(peer, send.data);
    ++posted.sends;
  }
  return posted;
}

/// Posts the rest of a batch, in which not all data is inline.
void MemoryPort::post_long(std::span<const Send> sends, Posted& posted) {
  while (posted.sends < sends.size()) {
    const Send& send = sends[posted.sends];
    if (!have_room(send.peers)) return;
    if (send.data.size() <= Descriptor::most_inline) {
      for (const Rank peer : send.peers) post_inline(peer, send.data);
    } else {
      const Descriptor::Window window = announce(send);
      const Way way = find_way(send, window.bytes > 0);
      if (way.kind == Descriptor::Kind::staged) {
        if (send.data.size() <= std::min(way.bytes, DescriptorRing::Slot::size)) {
          for (const Rank peer : send.peers) post_short(peer, send.data, window);
          ++posted.sends;
        } else if (!stage(sends, way.bytes, window, posted)) {
          return;
        }
        continue;
      }
      if (send.peers.size() > 1) {
        for (const Rank peer : send.peers) prefetch_next_descriptor(peer);
      }
      for (const Rank peer : send.peers) post_in_place(peer, way, window);
      posted.is_outstanding = true;
      if (way.bytes < send.data.size()) {
        posted.bytes = way.bytes;
        return;
      }
    }
    ++posted.sends;
  }
}

/// A peer that fills a window also says that it has read the data, so that even short data is not
/// copied.
MemoryPort::Way MemoryPort::find_way(const Send& send, bool has_window) {
  const std::span<const std::byte> data = send.data;
  if (view_ != nullptr && (has_window || data.size() >= terms_.zero_copy_from)) {
    if (const auto found =
            view_->publish(data.first(std::min(data.size(), longest_descriptor)), terms_.memory)) {
      return {.kind = Descriptor::Kind::zero_copy, .where = found->where, .bytes = found->bytes};
    }
  }
  if (is_single_copy(send)) {
    return {.kind = Descriptor::Kind::single_copy,
            .where = reinterpret_cast<std::uint64_t>(data.data()),
            .bytes = std::min(data.size(), longest_descriptor)};
  }
  return {.kind = Descriptor::Kind::staged,
          .bytes = std::min(data.size(), terms_.staged_at_a_time)};
}

/// True if the receivers fetch the data from this rank's private memory.
bool MemoryPort::is_single_copy(const Send& send) {
  // Shorter data costs less to copy twice than a system call does.
  constexpr std::size_t least = std::size_t{1} << 13;
  const std::span<const std::byte> data = send.data;
  if (send.message < terms_.single_copy_from || view_ == nullptr ||
      data.size() < std::max(terms_.zero_copy_from, least)) {
    return false;
  }
  if (std::exchange(fetchable_call_, tag_) != tag_) fetchable_ = {};
  const std::byte* const end = data.data() + data.size();
  if (data.data() >= fetchable_.data() && end <= fetchable_.data() + fetchable_.size()) return true;
  if (!view_->can_be_fetched(data)) return false;
  // Most often the next data follows this.
  const bool follows = data.data() == fetchable_.data() + fetchable_.size();
  fetchable_ = follows ? std::span(fetchable_.data(), end) : data;
  return true;
}

/// Copies the next send, at most so many bytes of it, into a slot of the outbox, and posts it; with
/// it, as many of the following ones as are staged too and fit. False if not all of it was posted.
bool MemoryPort::stage(std::span<const Send> sends, std::size_t most,
                       const Descriptor::Window& window, Posted& posted) {
  sends = sends.subspan(posted.sends);
  std::size_t count = 1;
  std::size_t bytes = in_slot(sends.front().data.size());
  const auto joins = [&](const Send& send) {
    const std::size_t size = send.data.size();
    return !send.is_prepared && send.window == nullptr && size > DescriptorRing::Slot::size &&
           bytes + in_slot(size) <= transport_.outbox().slot_bytes() && size <= most &&
           have_room(send.peers) && find_way(send, false).kind == Descriptor::Kind::staged;
  };
  while (count < sends.size() && joins(sends[count])) bytes += in_slot(sends[count++].data.size());
  Outbox::Slot* slot = count > 1 ? take_slot(sends.first(count)) : nullptr;
  if (slot != nullptr && slot->bytes < bytes) {
    transport_.outbox().give_back(*std::exchange(slot, nullptr));
  }
  if (slot == nullptr) {
    count = 1;
    slot = take_slot(sends.first(1));
    if (slot == nullptr) return false;
  }
  const Send& first = sends.front();
  most = std::min<std::size_t>({most, first.data.size(), slot->bytes});
  // From the last post on another port may get the slot, as soon as all readers have finished.
  const std::uint64_t offset = slot->offset;
  std::uint64_t at = offset;
  for (const Send& send : sends.first(count)) {
    const std::size_t size = &send == &first ? most : send.data.size();
    std::memcpy(transport_.arena().at(at), send.data.data(), size);
    at += in_slot(size);
    for (const Rank peer : send.peers) {
      const Outbound& out = out_[peer];
      slot->readers.push_back({.ring = out.ring, .turn = out.turn});
    }
  }
  Outbox::post(*slot);
  at = offset;
  for (const Send& send : sends.first(count)) {
    const std::size_t size = &send == &first ? most : send.data.size();
    const Way way{.kind = Descriptor::Kind::staged, .where = at, .bytes = size};
    for (const Rank peer : send.peers) {
      add_descriptor(out_[peer], in_[peer], way, &send == &first ? window : Descriptor::Window{});
    }
    at += in_slot(size);
  }
  if (most < first.data.size()) {
    posted.bytes = most;
    return false;
  }
  posted.sends += count;
  return true;
}

Outbox::Slot* MemoryPort::take_slot(std::span<const Send> sends) {
  const bool to_one = sends.size() == 1 && sends.front().peers.size() == 1;
  const auto flow = static_cast<std::uint32_t>(to_one ? sends.front().peers.front() : out_.size());
  return transport_.outbox().take(*closing_.quota, flow);
}

Port::Copies MemoryPort::prepare(const Send& send, std::size_t reading, bool may_stage,
                                 std::vector<std::byte*>& copies) {
  if (find_windows(send.peers, send.data.size(), reading, copies)) return Copies::put;
  if (!may_stage || send.data.size() <= DescriptorRing::Slot::size || !have_room(send.peers)) {
    return Copies::none;
  }
  const Way way = find_way(send, send.window != nullptr);
  if (way.kind != Descriptor::Kind::staged || way.bytes < send.data.size() ||
      way.bytes > transport_.outbox().slot_bytes()) {
    return Copies::none;
  }
  Outbox::Slot* const slot = take_slot({&send, 1});
  if (slot == nullptr) return Copies::none;
  if (slot->bytes < way.bytes) {
    transport_.outbox().give_back(*slot);
    return Copies::none;
  }
  prepared_ = slot;
  copies.assign(1, transport_.arena().at(slot->offset));
  return Copies::staged;
}

/// Posts data that was written where prepare() said.
void MemoryPort::post_prepared(const Send& send) {
  if (prepared_ == nullptr) return put(send);
  Outbox::Slot& slot = *std::exchange(prepared_, nullptr);
  const Descriptor::Window window = announce(send);
  for (const Rank peer : send.peers) {
    const Outbound& out = out_[peer];
    slot.readers.push_back({.ring = out.ring, .turn = out.turn});
  }
  const Way way{.kind = Descriptor::Kind::staged, .where = slot.offset, .bytes = send.data.size()};
  Outbox::post(slot);
  for (const Rank peer : send.peers) {
    add_descriptor(out_[peer], in_[peer], way, window);
  }
}

std::size_t MemoryPort::unreleased(Rank peer) {
  Outbound& out = out_[peer];
  if (!out.is_outstanding) return 0;
  if (!reached(out.done, out.last_outstanding)) refresh(out);
  out.is_outstanding = !reached(out.done, out.last_outstanding);
  return out.is_outstanding ? out.sent - (*out.begins)[(out.done + 1) % DescriptorRing::capacity]
                            : 0;
}

}  // namespace tutti
