// The part of a memory port that deals with windows: receive buffers that other ranks write to.
#include <sched.h>

#include <algorithm>
#include <chrono>

#include "transport/memory/memory_port-inl.hpp"

namespace tutti {

/// The window that a send announces; none if the peer cannot see it.
Descriptor::Window MemoryPort::announce(const Send& send) {
  if (send.window == nullptr || view_ == nullptr) return {};
  const Window& window = *send.window;
  const auto published = view_->publish(window.memory, terms_.memory);
  if (!published || published->bytes < window.memory.size()) return {};
  const Rank peer = send.peers.front();
  Outbound& out = out_[peer];
  note_announced(out, window.memory);
  return {.where = published->where,
          .at = in_[peer].consumed + window.at,
          .after = window.after ? out.sent + static_cast<std::uint64_t>(*window.after)
                                : may_write_at_once,
          .bytes = window.memory.size()};
}

/// Remembers what the peer may write to in this call.
void MemoryPort::note_announced(Outbound& out, std::span<std::byte> memory) const {
  if (out.announced_call != tag_) {
    out.announced_call = tag_;
    out.announced.clear();
  }
  // Windows of one call are often adjacent.
  if (!out.announced.empty()) {
    std::span<std::byte>& last = out.announced.back();
    if (last.data() + last.size() == memory.data()) {
      last = {last.data(), last.size() + memory.size()};
      return;
    }
  }
  out.announced.push_back(memory);
}

/// Finds where to write the next bytes of the streams to the peers. False if one of them has
/// announced no window for them, or if they may not be overwritten yet.
bool MemoryPort::find_windows(std::span<const Rank> peers, std::size_t bytes, std::size_t reading,
                              std::vector<std::byte*>& windows) {
  windows.resize(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    windows[i] = find_window(peers[i], bytes, reading);
    if (windows[i] == nullptr) return false;
  }
  if (!have_room(peers)) return false;
  // A peer that gives up revokes first and then looks at the flag. Either it sees the flag, or this
  // rank sees that it has revoked.
  set_writing(true);
  for (const Rank peer : peers) {
    const Retirement& owner = header_.retirement(out_[peer].place);
    if (owner.revoked.load(std::memory_order_seq_cst) != 0) require_unchanged(peer);
  }
  return true;
}

/// Null if the peer has announced no window for these bytes, or if they may not be overwritten yet.
std::byte* MemoryPort::find_window(Rank peer, std::size_t bytes, std::size_t reading) {
  const Inbound& in = in_[peer];
  const std::uint64_t at = out_[peer].sent;
  const Descriptor::Window& window = in.window;
  if (at < window.at || at + bytes > window.at + window.bytes) return nullptr;
  const std::uint64_t within = at - window.at;
  if (window.after != may_write_at_once && in.consumed + reading < window.after + within + bytes) {
    return nullptr;
  }
  return view_->resolve_to_write(local_places_[in.place], window.where + within);
}

/// Tells the peers that the data is in their windows.
void MemoryPort::put(const Send& send) {
  set_writing(false);
  const Descriptor::Window window = announce(send);
  for (const Rank peer : send.peers) {
    Outbound& out = out_[peer];
    const Inbound& in = in_[peer];
    const Way way{.kind = Descriptor::Kind::put,
                  .where = in.window.where + (out.sent - in.window.at),
                  .bytes = send.data.size()};
    add_descriptor(out, in, way, window);
  }
}

void MemoryPort::set_writing(bool is_writing) {
  std::atomic<std::uint32_t>& flag = header_.putting(self_).is_writing;
  if (is_writing) {
    flag.store(1, std::memory_order_seq_cst);
  } else {
    flag.store(0, std::memory_order_release);
  }
}

/// True if the peer may be writing to a window of the current call.
bool MemoryPort::may_write(const Outbound& out) const {
  if (out.announced.empty() || out.announced_call != tag_) return false;
  return header_.putting(out.place).is_writing.load(std::memory_order_seq_cst) != 0;
}

void MemoryPort::revoke_windows() {
  for (const Outbound& out : out_) {
    if (!may_write(out)) continue;
    for (const std::span<std::byte> memory : out.announced) {
      if (view_->revoke(memory)) continue;
      // It takes a fold of one slice.
      constexpr std::chrono::seconds long_enough{10};
      const Clock::time_point end = Clock::now() + long_enough;
      while (may_write(out) && Clock::now() < end) sched_yield();
    }
  }
}

}  // namespace tutti
