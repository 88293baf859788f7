// The part of a memory port that deals with windows: receive buffers that other ranks write to.
#include <sched.h>

#include <algorithm>
#include <chrono>

#include "transport/memory/memory_port-inl.hpp"

namespace tutti {

void MemoryPort::expose(Rank peer, const Window& window) {
  if (view_ == nullptr) return;
  const auto published = view_->publish(window.memory);
  if (!published || published->bytes < window.memory.size()) return;
  Outbound& out = out_[peer.index()];
  // A send that found no room is tried again.
  if (out.window.bytes > 0 && out.window.at == window.at) return;
  out.window = {.where = published->where,
                .at = window.at,
                .after = window.after.value_or(may_write_at_once),
                .bytes = window.memory.size()};
  note_exposed(out, window.memory);
}

/// Remembers what the peer may write to in this call.
void MemoryPort::note_exposed(Outbound& out, std::span<std::byte> memory) const {
  if (out.exposed_call != sent_call_) {
    out.exposed_call = sent_call_;
    out.exposed.clear();
  }
  // Windows of one call are often adjacent.
  if (!out.exposed.empty()) {
    std::span<std::byte>& last = out.exposed.back();
    if (last.data() + last.size() == memory.data()) {
      last = {last.data(), last.size() + memory.size()};
      return;
    }
  }
  out.exposed.push_back(memory);
}

bool MemoryPort::find_windows(std::span<const Rank> peers, std::size_t bytes, std::size_t reading,
                              std::vector<std::byte*>& windows) {
  windows.resize(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    windows[i] = find_window(peers[i], bytes, reading);
    if (windows[i] == nullptr) return false;
  }
  if (!have_room(peers)) return false;
  // A peer that gives up stands down first and then looks at the flag. Either it sees the flag, or
  // this rank sees that it has stood down.
  set_writing(true);
  for (const Rank peer : peers) {
    const Retirement& owner = commons_.retirement(out_[peer.index()].place);
    if (owner.stood_down.load(std::memory_order_seq_cst) != 0) require_unchanged(peer);
  }
  return true;
}

/// Null if the peer has exposed no window for these bytes, or if they may not be overwritten yet.
std::byte* MemoryPort::find_window(Rank peer, std::size_t bytes, std::size_t reading) {
  const Inbound& in = in_[peer.index()];
  const std::uint64_t at = out_[peer.index()].sent;
  const Note::Exposure& window = in.window;
  if (at < window.at || at + bytes > window.at + window.bytes) return nullptr;
  const std::uint64_t within = at - window.at;
  if (window.after != may_write_at_once && in.consumed + reading < window.after + within + bytes) {
    return nullptr;
  }
  return view_->resolve_to_write(local_places_[in.place], window.where + within);
}

void MemoryPort::put(std::span<const Rank> peers, std::size_t bytes) {
  set_writing(false);
  for (const Rank peer : peers) {
    const Note::Exposure& window = in_[peer.index()].window;
    post(peer, Note::Kind::put, window.where + (out_[peer.index()].sent - window.at), bytes);
  }
}

void MemoryPort::set_writing(bool is_writing) {
  std::atomic<std::uint32_t>& flag = commons_.putting(self_).is_writing;
  if (is_writing) {
    flag.store(1, std::memory_order_seq_cst);
  } else {
    flag.store(0, std::memory_order_release);
  }
}

/// True if the peer may be writing to a window of the current call.
bool MemoryPort::may_write(const Outbound& out) const {
  if (out.exposed.empty() || out.exposed_call != sent_call_) return false;
  return commons_.putting(out.place).is_writing.load(std::memory_order_seq_cst) != 0;
}

void MemoryPort::revoke_windows() {
  for (const Outbound& out : out_) {
    if (!may_write(out)) continue;
    for (const std::span<std::byte> memory : out.exposed) {
      if (view_->revoke(memory)) continue;
      // It takes a fold of one slice.
      constexpr std::chrono::seconds long_enough{10};
      const Clock::time_point end = Clock::now() + long_enough;
      while (may_write(out) && Clock::now() < end) sched_yield();
    }
  }
}

}  // namespace tutti
