// The part of a memory port that deals with single copies: the receiver fetches data from the
// sender's private memory.
#include <algorithm>
#include <utility>

#include "transport/memory/memory_port-inl.hpp"

namespace tutti {
namespace {

/// Data that is folded is fetched in pieces of this size, which fit the cache.
constexpr std::size_t piece_bytes = std::size_t{1} << 16;

}  // namespace

/// True if the receivers fetch the data from this rank's private memory.
bool MemoryPort::is_single_copy(std::span<const std::byte> data) {
  // Shorter data costs less to copy twice than a system call does.
  constexpr std::size_t least = std::size_t{1} << 13;
  if (!allows_single_copy_ || view_ == nullptr || data.size() < std::max(least_direct_, least)) {
    return false;
  }
  if (std::exchange(fetchable_call_, sent_call_) != sent_call_) fetchable_ = {};
  const std::byte* const end = data.data() + data.size();
  if (data.data() >= fetchable_.data() && end <= fetchable_.data() + fetchable_.size()) return true;
  if (!view_->can_be_fetched(data)) return false;
  // Most often the next data follows this.
  const bool follows = data.data() == fetchable_.data() + fetchable_.size();
  fetchable_ = follows ? std::span(fetchable_.data(), end) : data;
  return true;
}

void MemoryPort::open_remote(Inbound& in, const Note& note) {
  in.is_lent = true;
  in.fetched = 0;
  in.next_fetch = note.place.where;
  if (in.copy.empty()) in.copy.resize(piece_bytes);
  in.data = in.copy.data();
}

/// Copies the next bytes of the open note, which are in the peer's private memory.
void MemoryPort::fetch(Inbound& in, std::span<std::byte> to) {
  view_->fetch(local_places_[in.place], in.next_fetch, to);
  in.next_fetch += to.size();
}

/// Fetches bytes of the open note, unless some are left.
void MemoryPort::fill_copy(Inbound& in) {
  if (in.fetched > 0) return;
  const std::size_t bytes = std::min(in.left, in.copy.size());
  fetch(in, std::span(in.copy).first(bytes));
  in.data = in.copy.data();
  in.fetched = bytes;
}

std::size_t MemoryPort::receive(Rank peer, std::span<std::byte> to) {
  Inbound& in = in_[peer.index()];
  if (!open(peer, in)) return 0;
  if (!in.is_remote || in.fetched > 0) return Port::receive(peer, to);
  const std::size_t bytes = std::min(in.left, to.size());
  fetch(in, to.first(bytes));
  in.fetched = bytes;
  finish(peer, in, bytes);
  return bytes;
}

}  // namespace tutti
