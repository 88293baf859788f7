#pragma once

// The parts of a memory port that deal with single notes: they are inlined wherever notes are read
// and written.
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

/// Opens the next note from a peer, unless one is open. False if there is none.
inline bool MemoryPort::open(Rank peer, Inbound& in) {
  if (in.data != nullptr) return true;
  if (in.box == nullptr && !find_mailbox(in)) return false;
  const Note& note = in.box->note(in.turn);
  if (note.turn.load(std::memory_order_acquire) != in.turn) return false;
  if (note.call != received_call_) refuse_call(peer);
  in.left = note.bytes;
  if (note.kind == Note::Kind::enclosed) {
    in.is_lent = in.is_remote = false;
    in.data = note.data.data();
  } else {
    find_data(peer, in, note);
  }
  return true;
}

/// Consumes bytes of the open note.
inline void MemoryPort::finish(Rank peer, Inbound& in, std::size_t bytes) {
  in.data += bytes;
  in.left -= bytes;
  in.consumed += bytes;
  if (in.left > 0) {
    if (in.is_remote) in.fetched -= bytes;
    return;
  }
  if (in.is_lent) require_unchanged(peer);
  in.data = nullptr;
  in.box->done.store(in.turn++, std::memory_order_release);
  wake(in.place);
}

inline bool MemoryPort::has_room(Outbound& out) {
  const auto full = [&] { return out.turn - out.done > Mailbox::capacity; };
  if (!full()) {
    if (out.box == nullptr) make_mailbox(out);
    return true;
  }
  refresh(out);
  return !full();
}

inline bool MemoryPort::have_room(std::span<const Rank> peers) {
  for (const Rank peer : peers) {
    if (!has_room(out_[peer.index()])) return false;
  }
  return true;
}

inline void MemoryPort::prefetch_next_note(Rank peer) const {
  const Outbound& out = out_[peer.index()];
  prefetch_to_write(&out.box->note(out.turn));
}

/// Posts the next note. Enclosed data must already be in it.
inline void MemoryPort::post(Outbound& out, const Inbound& in, Note::Kind kind, std::uint64_t where,
                             const Note::Exposure& window, std::size_t bytes) {
  Note& note = out.box->note(out.turn);
  note.bytes = static_cast<std::uint32_t>(bytes);
  note.call = sent_call_;
  note.kind = kind;
  if (kind != Note::Kind::enclosed) note.place.write(where, window, in.turn - 1);
  (*out.begins)[out.turn % Mailbox::capacity] = out.sent;
  note.turn.store(out.turn++, std::memory_order_release);
  out.sent += bytes;
  wake(out.place);
}

inline void MemoryPort::post(Rank peer, Note::Kind kind, std::uint64_t where, std::size_t bytes) {
  Outbound& out = out_[peer.index()];
  post(out, in_[peer.index()], kind, where, out.window, bytes);
  // An enclosed note has no room for a window. A later call must not find it here.
  out.window.bytes = 0;
}

inline void MemoryPort::enclose(Rank peer, std::span<const std::byte> data) {
  Outbound& out = out_[peer.index()];
  short_copy(out.box->note(out.turn).data.data(), data.data(), data.size());
  post(peer, Note::Kind::enclosed, 0, data.size());
}

/// Sends data that the peer reads in this rank's own memory.
inline void MemoryPort::lend(Rank peer, Note::Kind kind, std::uint64_t where, std::size_t bytes) {
  Outbound& out = out_[peer.index()];
  out.lends = true;
  out.last_lent = out.turn;
  post(peer, kind, where, bytes);
}

}  // namespace tutti
