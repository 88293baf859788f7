// The part of a memory port that receives.
#include <algorithm>
#include <string>

#include <tutti/error.hpp>

#include "transport/memory/memory_port-inl.hpp"

namespace tutti {
namespace {

/// Private memory of a peer that is folded is fetched in pieces of this size, which fit the cache.
constexpr std::size_t piece_bytes = std::size_t{1} << 16;

}  // namespace

std::size_t MemoryPort::poll(std::span<const Rank> peers, std::span<std::byte> into,
                             const void** data, std::span<const Rank> next) {
  // The descriptors of the next peers are fetched meanwhile: each is in the cache of another core.
  for (const Rank peer : next) {
    const Inbound& later = in_[peer];
    if (later.ring != nullptr) __builtin_prefetch(&later.ring->at(later.turn));
  }
  std::size_t least = ~std::size_t{0};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    Inbound& in = in_[peers[i]];
    if (!open(peers[i], in)) return 0;
    data[i] = in.data;
    if (!in.is_remote) {
      least = std::min(least, in.left);
      continue;
    }
    if (in.fetched == 0 && peers.size() == 1 && !into.empty()) {
      fetch(in, into.first(std::min(in.left, into.size())));
      data[i] = into.data();
    } else if (in.fetched == 0) {
      fill_copy(in);
      data[i] = in.data;
    }
    least = std::min(least, in.fetched);
  }
  return least;
}

void MemoryPort::consume(std::span<const Rank> peers, std::size_t bytes) {
  for (const Rank peer : peers) finish(peer, in_[peer], bytes);
}

bool MemoryPort::may_arrive(Rank peer, bool has_ended) {
  // What a process has sent is there when it ends.
  if (has_ended) return false;
  Inbound& in = in_[peer];
  return in.ring != nullptr || find_ring(in);
}

/// True if the peer has allocated its ring to this rank.
bool MemoryPort::find_ring(Inbound& in) const {
  const std::uint64_t lines = header_.ring(in.place, self_).load(std::memory_order_acquire);
  if (lines == 0) return false;
  in.ring = reinterpret_cast<DescriptorRing*>(transport_.arena().at(lines * cache_line));
  return true;
}

/// Finds the data that a descriptor describes.
void MemoryPort::find_data(Rank peer, Inbound& in, const Descriptor& descriptor) {
  const std::uint64_t where = descriptor.place.where;
  in.is_remote = descriptor.kind == Descriptor::Kind::single_copy;
  in.is_in_place = in.is_remote || descriptor.kind == Descriptor::Kind::zero_copy;
  if (in.is_remote) {
    in.fetched = 0;
    in.next_fetch = where;
    if (in.copy.empty()) in.copy.resize(piece_bytes);
    in.data = in.copy.data();
  } else if (in.is_in_place) {
    in.data = view_->resolve(local_places_[in.place], where);
  } else if (descriptor.kind == Descriptor::Kind::put) {
    in.data = view_->own(where, descriptor.bytes, terms_.memory);
  } else {
    in.data = transport_.arena().at(where);
  }
  if (descriptor.place.window.bytes > 0) in.window = descriptor.place.window;
  Outbound& out = out_[peer];
  if (reached(descriptor.place.finished, out.done)) out.done = descriptor.place.finished;
}

/// Copies the next bytes of the open descriptor, which are in the peer's private memory.
void MemoryPort::fetch(Inbound& in, std::span<std::byte> to) {
  view_->fetch(local_places_[in.place], in.next_fetch, to);
  in.next_fetch += to.size();
  in.fetched = to.size();
}

void MemoryPort::fill_copy(Inbound& in) {
  fetch(in, std::span(in.copy).first(std::min(in.left, in.copy.size())));
  in.data = in.copy.data();
}

void MemoryPort::refuse_call(Rank peer) {
  throw Error(ErrorCode::mismatch, "rank " + std::to_string(peer) +
                                       " is in another call, or in the same call with other "
                                       "arguments: make the same calls in the same order on "
                                       "all ranks");
}

void MemoryPort::refuse_changed(Rank peer) {
  set_writing(false);
  throw Error(ErrorCode::peer_lost, "rank " + std::to_string(peer) + " has given up");
}

}  // namespace tutti
