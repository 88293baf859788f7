#include "transport/memory/memory_transport.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// Tells the CPU that this is a loop that waits.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Turns wrap around after 2³², long after the earlier ones are forgotten.
bool reached(std::uint32_t done, std::uint32_t turn) {
  return static_cast<std::int32_t>(done - turn) >= 0;
}

/// A sleeper that missed its bell by a hair wakes up by itself.
constexpr std::chrono::milliseconds longest_nap{2};

/// A note's length has 32 bits; a direct one is cut where the next begins on a cache line.
constexpr std::size_t longest_note = std::size_t{1} << 30;

}  // namespace

MemoryTransport::MemoryTransport(const Commons& commons, Rank self, SharedView* view,
                                 Patience patience, std::size_t least_direct)
    : commons_(commons),
      self_(self.index()),
      view_(view),
      patience_(patience),
      least_direct_(least_direct),
      spread_(commons, self.index()),
      in_(commons.ranks()),
      out_(commons.ranks()),
      slots_(commons.outbox_shape().slots),
      held_slots_(commons.ranks(), 0),
      without_slot_(commons.ranks()) {
  for (Slot& slot : slots_) slot.readers.reserve(commons.ranks());
  for (std::uint32_t i = 0; i < slots_.size(); ++i) free_slots_.push_back(i);
  for (std::uint32_t r = 0; r < commons.ranks(); ++r) {
    in_[r].box = &commons.mailbox(r, self_);
    out_[r].box = &commons.mailbox(self_, r);
  }
}

std::span<const std::byte> MemoryTransport::arrived(Rank peer) {
  Inbound& in = in_[peer.index()];
  if (in.data == nullptr) {
    const Note& note = in.box->note(in.turn);
    if (note.turn.load(std::memory_order_acquire) != in.turn) return {};
    if (note.call != received_call_) {
      throw Error(ErrorCode::mismatch, name(peer.index()) +
                                           " is in another call, or in the same with other "
                                           "arguments: let all ranks call the same, in one order");
    }
    in.left = note.bytes;
    switch (note.kind) {
      case Note::Kind::enclosed:
        in.data = note.data.data();
        break;
      case Note::Kind::staged:
        in.data = commons_.outbox(peer.index()) + note.where;
        break;
      case Note::Kind::direct:
        in.data = view_->resolve(peer.index(), note.where);
        break;
    }
    in.is_lent = note.kind == Note::Kind::direct;
  }
  return {in.data, in.left};
}

void MemoryTransport::consume(Rank peer, std::size_t bytes) {
  Inbound& in = in_[peer.index()];
  in.data += bytes;
  in.left -= bytes;
  if (in.left > 0) return;
  if (in.is_lent) require_unchanged(peer.index());
  in.data = nullptr;
  in.box->done.store(in.turn++, std::memory_order_release);
  wake(peer.index());
}

/// What was read while its owner has given up may have been something else already.
void MemoryTransport::require_unchanged(std::uint32_t peer) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  if (commons_.retirement(peer).stood_down.load(std::memory_order_relaxed) == 0) return;
  throw Error(ErrorCode::peer_lost, name(peer) + " has given up");
}

std::string MemoryTransport::name(std::uint32_t peer) const {
  return "rank " + std::to_string(names_.empty() ? peer : names_[peer].index());
}

void MemoryTransport::stand_down() {
  commons_.retirement(self_).stood_down.store(1, std::memory_order_seq_cst);
}

bool MemoryTransport::is_lending(const std::function<bool(Rank)>& is_gone) {
  for (std::uint32_t peer = 0; peer < out_.size(); ++peer) {
    Outbound& out = out_[peer];
    if (!out.lends) continue;
    refresh(out);
    out.lends = !reached(out.done, out.last_lent);
    if (!out.lends || commons_.retirement(peer).stood_down.load(std::memory_order_seq_cst) != 0) {
      continue;
    }
    if (!is_gone(Rank{peer})) return true;
  }
  return false;
}

std::size_t MemoryTransport::send(std::span<const Rank> peers, std::span<const std::byte> data) {
  if (!have_room(peers)) return 0;
  if (data.size() <= Note::most_enclosed) {
    for (const Rank peer : peers) enclose(peer.index(), data);
    return data.size();
  }
  if (const auto published = publish(data)) {
    for (const Rank peer : peers) {
      out_[peer.index()].lends = true;
      out_[peer.index()].last_lent = out_[peer.index()].turn;
      post(peer.index(), Note::Kind::direct, published->where, published->bytes);
    }
    return published->bytes;
  }
  Slot* const slot = take_slot(peers);
  if (slot == nullptr) return 0;
  const std::size_t bytes = std::min<std::size_t>(data.size(), commons_.outbox_shape().slot_bytes);
  std::memcpy(commons_.outbox(self_) + offset(*slot), data.data(), bytes);
  post_slot(*slot, peers, bytes);
  return bytes;
}

std::byte* MemoryTransport::reserve(std::span<const Rank> peers, std::span<const std::byte> data) {
  const bool fits = data.size() <= commons_.outbox_shape().slot_bytes;
  if (!fits || data.size() <= Note::most_enclosed || publish(data) || !have_room(peers)) {
    return nullptr;
  }
  reserved_ = take_slot(peers);
  return reserved_ == nullptr ? nullptr : commons_.outbox(self_) + offset(*reserved_);
}

void MemoryTransport::commit(std::span<const Rank> peers, std::size_t bytes) {
  post_slot(*reserved_, peers, bytes);
}

/// Where all see the data, if they do and if it is worth their while.
std::optional<SharedView::Published> MemoryTransport::publish(std::span<const std::byte> data) {
  if (view_ == nullptr || data.size() < least_direct_) return std::nullopt;
  return view_->publish(data.first(std::min(data.size(), longest_note)));
}

std::uint64_t MemoryTransport::released(Rank peer) {
  Outbound& out = out_[peer.index()];
  if (!out.lends) return out.sent;
  refresh(out);
  out.lends = !reached(out.done, out.last_lent);
  return out.lends ? out.begins[(out.done + 1) % Mailbox::capacity] : out.sent;
}

std::uint64_t MemoryTransport::sent(Rank peer) const { return out_[peer.index()].sent; }

bool MemoryTransport::wait(std::uint32_t idle, Clock::time_point deadline) {
  // Whoever is waited for may be on this very core, whatever the number of cores: then spinning
  // would keep it from running.
  constexpr std::uint32_t looks_between = 64;
  if (idle % looks_between == 0 || idle == patience_.spins + 1) crowded_ = spread_.crowded();
  const std::uint32_t spins = crowded_ ? std::min(patience_.spins, looks_between) : patience_.spins;
  if (about_to_sleep_ && idle <= spins + patience_.yields) {
    about_to_sleep_ = false;
    commons_.bell(self_).asleep.store(0, std::memory_order_relaxed);
  }
  if (idle <= spins) {
    pause();
  } else if (idle <= spins + patience_.yields) {
    sched_yield();
  } else if (!about_to_sleep_) {
    // Whoever has something for this rank from now on rings the bell; what came before is found by
    // looking once more.
    Bell& bell = commons_.bell(self_);
    rung_before_ = bell.rung.load(std::memory_order_acquire);
    bell.asleep.store(1, std::memory_order_seq_cst);
    about_to_sleep_ = true;
  } else {
    sleep(deadline);
    rung_before_ = commons_.bell(self_).rung.load(std::memory_order_acquire);
    return true;
  }
  return false;
}

bool MemoryTransport::have_room(std::span<const Rank> peers) {
  return std::all_of(peers.begin(), peers.end(),
                     [this](Rank peer) { return has_room(out_[peer.index()]); });
}

bool MemoryTransport::has_room(Outbound& out) {
  const auto full = [&] { return out.turn - out.done > Mailbox::capacity; };
  if (!full()) return true;
  refresh(out);
  return !full();
}

void MemoryTransport::refresh(Outbound& out) {
  out.done = out.box->done.load(std::memory_order_acquire);
}

MemoryTransport::Slot* MemoryTransport::take_slot(std::span<const Rank> peers) {
  return take_slot(peers.size() == 1 ? peers.front().index() : self_);
}

std::uint64_t MemoryTransport::offset(const Slot& slot) const {
  return static_cast<std::uint64_t>(&slot - slots_.data()) * commons_.outbox_shape().slot_bytes;
}

void MemoryTransport::post_slot(Slot& slot, std::span<const Rank> peers, std::size_t bytes) {
  for (const Rank peer : peers) {
    slot.readers.push_back({.peer = peer.index(), .turn = out_[peer.index()].turn});
    post(peer.index(), Note::Kind::staged, offset(slot), bytes);
  }
}

MemoryTransport::Slot* MemoryTransport::take_slot(std::uint32_t customer) {
  const auto reserved = [&] { return without_slot_ - (held_slots_[customer] == 0 ? 1 : 0); };
  if (free_slots_.size() <= reserved()) reclaim_slots();
  if (free_slots_.size() <= reserved()) return nullptr;
  // The slot that became free last is the most likely to be in the cache still.
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  busy_slots_.push_back(index);
  if (held_slots_[customer]++ == 0) --without_slot_;
  slots_[index].customer = customer;
  return &slots_[index];
}

void MemoryTransport::reclaim_slots() {
  std::erase_if(busy_slots_, [&](std::uint32_t index) {
    Slot& slot = slots_[index];
    if (!is_read(slot)) return false;
    if (--held_slots_[slot.customer] == 0) ++without_slot_;
    free_slots_.push_back(index);
    return true;
  });
}

bool MemoryTransport::is_read(Slot& slot) {
  while (!slot.readers.empty()) {
    const auto [peer, turn] = slot.readers.back();
    Outbound& out = out_[peer];
    if (!reached(out.done, turn)) refresh(out);
    if (!reached(out.done, turn)) return false;
    slot.readers.pop_back();
  }
  return true;
}

void MemoryTransport::enclose(std::uint32_t peer, std::span<const std::byte> data) {
  Outbound& out = out_[peer];
  std::memcpy(out.box->note(out.turn).data.data(), data.data(), data.size());
  post(peer, Note::Kind::enclosed, 0, data.size());
}

/// Posts the next note, whose data stands elsewhere or has been enclosed already.
void MemoryTransport::post(std::uint32_t peer, Note::Kind kind, std::uint64_t where,
                           std::size_t bytes) {
  Outbound& out = out_[peer];
  Note& note = out.box->note(out.turn);
  note.bytes = static_cast<std::uint32_t>(bytes);
  note.call = sent_call_;
  note.kind = kind;
  if (kind != Note::Kind::enclosed) note.where = where;
  out.begins[out.turn % Mailbox::capacity] = out.sent;
  note.turn.store(out.turn++, std::memory_order_release);
  out.sent += bytes;
  wake(peer);
}

void MemoryTransport::wake(std::uint32_t rank) {
  Bell& bell = commons_.bell(rank);
  if (bell.asleep.load(std::memory_order_relaxed) == 0) return;
  bell.rung.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &bell.rung, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void MemoryTransport::sleep(Clock::time_point deadline) {
  const auto left = std::min<Clock::duration>(deadline - Clock::now(), longest_nap);
  if (left <= Clock::duration::zero()) return;
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  const timespec timeout{.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  syscall(SYS_futex, &commons_.bell(self_).rung, FUTEX_WAIT, rung_before_, &timeout, nullptr, 0);
}

}  // namespace tutti
