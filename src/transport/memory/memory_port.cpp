#include "transport/memory/memory_port.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include <tutti/error.hpp>

#include "transport/memory/memory_port-inl.hpp"
#include "transport/memory/own_threads.hpp"

namespace tutti {
namespace {

/// The CPU's hint for spin loops.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// A peer reads `asleep` without a fence, so its last notes may become visible after that: if there
/// are many, a microsecond later. A rank that says that it sleeps looks again after so long,
constexpr std::chrono::microseconds until_notes_are_visible{2};
/// and if even that was too early, it sleeps no longer than this.
constexpr std::chrono::milliseconds longest_nap{2};

/// The length in a note has 32 bits. A multiple of the cache line, so that longer direct data is
/// split on a cache line.
constexpr std::size_t longest_note = std::size_t{1} << 30;

constexpr std::size_t mailbox_block = 4096;
constexpr std::uint32_t mailboxes_per_block = mailbox_block / sizeof(Mailbox);

std::uint32_t count(std::span<const std::optional<std::uint32_t>> places) {
  return static_cast<std::uint32_t>(std::count_if(
      places.begin(), places.end(), [](const auto& place) { return place.has_value(); }));
}

}  // namespace

MemoryPort::MemoryPort(MemoryTransport& transport, const Membership& membership,
                       std::span<const std::optional<std::uint32_t>> places, std::uint64_t commons,
                       bool made_commons)
    : transport_(transport),
      commons_(transport.arena().at(commons), count(places)),
      view_(transport.setting().view),
      patience_(transport.setting().patience),
      least_direct_(transport.setting().least_direct),
      spread_(commons_),
      in_(membership.size()),
      out_(membership.size()) {
  for (std::uint32_t rank = 0; rank < membership.size(); ++rank) {
    if (!places[rank]) continue;
    const auto place = static_cast<std::uint32_t>(local_places_.size());
    if (rank == membership.self.index()) self_ = place;
    in_[rank].place = out_[rank].place = place;
    local_places_.push_back(*places[rank]);
    remains_.members.push_back(membership.members[rank]);
  }
  spread_.set_self(self_);
  remains_.commons = commons_;
  remains_.self = self_;
  // One customer for each peer, and one for sends to several peers.
  remains_.account = std::make_unique<Outbox::Account>(membership.size() + 1);
  if (made_commons) remains_.own_commons = commons;
}

MemoryPort::~MemoryPort() { transport_.bury(std::move(remains_)); }

/// True if the peer has allocated its mailbox to this rank.
bool MemoryPort::find_mailbox(Inbound& in) const {
  const std::uint64_t lines = commons_.mailbox(in.place, self_).load(std::memory_order_acquire);
  if (lines == 0) return false;
  in.box = reinterpret_cast<Mailbox*>(transport_.arena().at(lines * cache_line));
  return true;
}

void MemoryPort::make_mailbox(Outbound& out) {
  if (free_mailboxes_ == 0) {
    remains_.mailboxes.push_back(transport_.arena().allocate(mailbox_block));
    free_mailboxes_ = mailboxes_per_block;
  }
  const std::uint64_t offset =
      remains_.mailboxes.back() + sizeof(Mailbox) * (mailboxes_per_block - free_mailboxes_--);
  out.box = reinterpret_cast<Mailbox*>(transport_.arena().at(offset));
  out.begins = std::make_unique<Begins>();
  commons_.mailbox(self_, out.place)
      .store(static_cast<std::uint32_t>(offset / cache_line), std::memory_order_release);
}

std::span<const std::byte> MemoryPort::arrived(Rank peer) {
  Inbound& in = in_[peer.index()];
  if (!open(peer, in)) return {};
  if (!in.is_remote) return {in.data, in.left};
  fill_copy(in);
  return {in.data, in.fetched};
}

void MemoryPort::consume(Rank peer, std::size_t bytes) { finish(peer, in_[peer.index()], bytes); }

/// Finds the data that a note describes.
void MemoryPort::find_data(Rank peer, Inbound& in, const Note& note) {
  in.is_lent = note.kind == Note::Kind::direct;
  in.is_remote = note.kind == Note::Kind::remote;
  if (in.is_remote) {
    open_remote(in, note);
  } else if (in.is_lent) {
    in.data = view_->resolve(local_places_[in.place], note.place.where);
  } else if (note.kind == Note::Kind::put) {
    in.data = view_->own(note.place.where);
  } else {
    in.data = transport_.arena().at(note.place.where);
  }
  if (note.place.window.bytes > 0) in.window = note.place.window;
  Outbound& out = out_[peer.index()];
  if (reached(note.place.finished, out.done)) out.done = note.place.finished;
}

void MemoryPort::refuse_call(Rank peer) {
  throw Error(ErrorCode::mismatch, "rank " + std::to_string(peer.index()) +
                                       " is in another call, or in the same call with other "
                                       "arguments: make the same calls in the same order on "
                                       "all ranks");
}

void MemoryPort::refuse_changed(Rank peer) {
  set_writing(false);
  throw Error(ErrorCode::peer_lost, "rank " + std::to_string(peer.index()) + " has given up");
}

void MemoryPort::stand_down() {
  commons_.retirement(self_).stood_down.store(1, std::memory_order_seq_cst);
}

bool MemoryPort::is_lending(const std::function<bool(Rank)>& is_gone) {
  for (std::uint32_t peer = 0; peer < out_.size(); ++peer) {
    Outbound& out = out_[peer];
    if ((may_read(out) || may_write(out)) && !is_gone(Rank{peer})) return true;
  }
  return false;
}

/// True if the peer may still read memory that this rank has lent to it.
bool MemoryPort::may_read(Outbound& out) {
  if (!out.lends) return false;
  refresh(out);
  out.lends = !reached(out.done, out.last_lent);
  const Retirement& reader = commons_.retirement(out.place);
  return out.lends && reader.stood_down.load(std::memory_order_seq_cst) == 0;
}

std::size_t MemoryPort::send(std::span<const Rank> peers, std::span<const std::byte> data) {
  if (!have_room(peers)) return 0;
  if (data.size() > Note::most_enclosed) return send_long(peers, data);
  for (const Rank peer : peers) enclose(peer, data);
  return data.size();
}

/// Requires: there is room for a note to each peer.
std::size_t MemoryPort::send_long(std::span<const Rank> peers, std::span<const std::byte> data) {
  if (const auto published = publish(data, least_to_lend(peers))) {
    if (peers.size() > 1) {
      for (const Rank peer : peers) prefetch_next_note(peer);
    }
    for (const Rank peer : peers) {
      lend(peer, Note::Kind::direct, published->where, published->bytes);
    }
    return published->bytes;
  }
  if (is_single_copy(data)) {
    const std::size_t bytes = std::min(data.size(), longest_note);
    const auto address = reinterpret_cast<std::uint64_t>(data.data());
    for (const Rank peer : peers) lend(peer, Note::Kind::remote, address, bytes);
    return bytes;
  }
  Outbox::Slot* const slot = take_slot(peers);
  if (slot == nullptr) return 0;
  const std::size_t bytes = std::min<std::size_t>(data.size(), slot->bytes);
  std::memcpy(transport_.arena().at(slot->offset), data.data(), bytes);
  post_slot(*slot, peers, bytes);
  return bytes;
}

std::byte* MemoryPort::reserve(std::span<const Rank> peers, std::span<const std::byte> data) {
  if (data.size() <= Note::most_enclosed || data.size() > transport_.outbox().slot_bytes() ||
      publish(data, least_to_lend(peers)) || is_single_copy(data) || !have_room(peers)) {
    return nullptr;
  }
  reserved_ = take_slot(peers);
  if (reserved_ == nullptr) return nullptr;
  if (data.size() <= reserved_->bytes) return transport_.arena().at(reserved_->offset);
  transport_.outbox().give_back(*std::exchange(reserved_, nullptr));
  return nullptr;
}

void MemoryPort::commit(std::span<const Rank> peers, std::size_t bytes) {
  post_slot(*std::exchange(reserved_, nullptr), peers, bytes);
}

/// A peer that fills a window also says that it has read the data, so even short data is lent.
std::size_t MemoryPort::least_to_lend(std::span<const Rank> peers) const {
  const bool has_window = peers.size() == 1 && out_[peers.front().index()].window.bytes > 0;
  return has_window ? 0 : least_direct_;
}

/// The published location of the data, if the peers can see it and it is long enough.
std::optional<SharedView::Published> MemoryPort::publish(std::span<const std::byte> data,
                                                         std::size_t least) {
  if (view_ == nullptr || data.size() < least) return std::nullopt;
  return view_->publish(data.first(std::min(data.size(), longest_note)));
}

std::uint64_t MemoryPort::released(Rank peer) {
  Outbound& out = out_[peer.index()];
  if (!out.lends) return out.sent;
  if (!reached(out.done, out.last_lent)) refresh(out);
  out.lends = !reached(out.done, out.last_lent);
  return out.lends ? (*out.begins)[(out.done + 1) % Mailbox::capacity] : out.sent;
}

std::uint64_t MemoryPort::sent(Rank peer) const { return out_[peer.index()].sent; }

bool MemoryPort::stay_awake(std::uint32_t idle) {
  // The peer that this rank waits for may be on the same core, even if there are enough cores; or
  // the program's own computation, which the peer waits for in the end. Then spinning would keep it
  // from running.
  constexpr std::uint32_t looks_between = 64;
  if (idle % looks_between == 0 || idle == patience_.spins + 1) {
    crowded_ = spread_.crowded() || (patience_.spins > 0 && own_threads_want_core());
  }
  const std::uint32_t spins = crowded_ ? std::min(patience_.spins, looks_between) : patience_.spins;
  if (idle > spins + patience_.yields) return false;
  if (idle <= spins) {
    pause();
  } else {
    sched_yield();
  }
  return true;
}

void MemoryPort::lie_down(WokenBy by) {
  Bell& bell = commons_.bell(self_);
  rung_before_ = bell.rung.load(std::memory_order_acquire);
  bell.asleep.store(by == WokenBy::itself ? Bell::on_bell : Bell::on_descriptors,
                    std::memory_order_seq_cst);
  const Clock::time_point end = Clock::now() + until_notes_are_visible;
  while (Clock::now() < end) pause();
}

void MemoryPort::get_up() {
  commons_.bell(self_).asleep.store(Bell::awake, std::memory_order_relaxed);
}

void MemoryPort::interrupt() {
  is_interrupted_.store(true, std::memory_order_release);
  ring_futex(commons_.bell(self_));
}

Outbox::Slot* MemoryPort::take_slot(std::span<const Rank> peers) {
  const auto customer =
      static_cast<std::uint32_t>(peers.size() == 1 ? peers.front().index() : out_.size());
  if (reserved_ != nullptr) {
    Outbox::Slot& slot = *std::exchange(reserved_, nullptr);
    if (slot.customer == customer) return &slot;
    // When the outbox is full, each customer is entitled to one slot. Data for another one in this
    // slot would take it from the customer that it was reserved for.
    transport_.outbox().give_back(slot);
  }
  return transport_.outbox().take(*remains_.account, customer);
}

void MemoryPort::post_slot(Outbox::Slot& slot, std::span<const Rank> peers, std::size_t bytes) {
  for (const Rank peer : peers) {
    const Outbound& out = out_[peer.index()];
    slot.readers.push_back({.box = out.box, .turn = out.turn});
  }
  Outbox::post(slot);
  // From here on another port may get the slot as soon as all readers have finished.
  const std::uint64_t offset = slot.offset;
  for (const Rank peer : peers) post(peer, Note::Kind::staged, offset, bytes);
}

void MemoryPort::wake_from(std::uint32_t asleep, std::uint32_t place) {
  if (asleep == Bell::on_bell) {
    ring_futex(commons_.bell(place));
  } else if (transport_.setting().doorbells != nullptr) {
    transport_.setting().doorbells->ring(local_places_[place]);
  }
}

void MemoryPort::ring_futex(Bell& bell) {
  bell.rung.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &bell.rung, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void MemoryPort::sleep(Clock::time_point deadline) {
  if (is_interrupted_.exchange(false, std::memory_order_acquire)) return;
  const auto left = std::min<Clock::duration>(deadline - Clock::now(), longest_nap);
  if (left <= Clock::duration::zero()) return;
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  const timespec timeout{.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  syscall(SYS_futex, &commons_.bell(self_).rung, FUTEX_WAIT, rung_before_, &timeout, nullptr, 0);
}

}  // namespace tutti
