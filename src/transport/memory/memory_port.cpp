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

/// A peer reads `asleep` without a fence, so its last descriptors may become visible after that: if
/// there are many, a microsecond later. A rank that says that it sleeps looks again after so long,
constexpr std::chrono::microseconds until_descriptors_are_visible{2};
/// and if even that was too early, it sleeps no longer than this.
constexpr std::chrono::milliseconds longest_nap{2};

std::uint32_t count(std::span<const std::optional<std::uint32_t>> places) {
  return static_cast<std::uint32_t>(std::count_if(
      places.begin(), places.end(), [](const auto& place) { return place.has_value(); }));
}

}  // namespace

MemoryPort::MemoryPort(MemoryTransport& transport, const Membership& membership,
                       std::span<const std::optional<std::uint32_t>> places, std::uint64_t header,
                       bool made_header)
    : transport_(transport),
      header_(transport.arena().at(header), count(places)),
      view_(transport.setting().view),
      patience_(transport.setting().patience),
      spread_(header_),
      in_(membership.size()),
      out_(membership.size()) {
  for (std::uint32_t rank = 0; rank < membership.size(); ++rank) {
    if (!places[rank]) continue;
    const auto place = static_cast<std::uint32_t>(local_places_.size());
    if (rank == membership.self) self_ = place;
    in_[rank].place = out_[rank].place = place;
    local_places_.push_back(*places[rank]);
    closing_.members.push_back(membership.members[rank]);
  }
  spread_.set_self(self_);
  closing_.header = header_;
  closing_.self = self_;
  // One flow for each peer, and one for sends to several peers.
  closing_.quota = std::make_unique<Outbox::Quota>(membership.size() + 1);
  if (made_header) closing_.own_header = header;
}

MemoryPort::~MemoryPort() { transport_.retire(std::move(closing_)); }

void MemoryPort::revoke() { header_.retirement(self_).revoked.store(1, std::memory_order_seq_cst); }

bool MemoryPort::is_exposed(const std::function<bool(Rank)>& is_gone) {
  for (std::uint32_t peer = 0; peer < out_.size(); ++peer) {
    Outbound& out = out_[peer];
    if ((may_read(out) || may_write(out)) && !is_gone(peer)) return true;
  }
  return false;
}

/// True if the peer may still read memory of this rank.
bool MemoryPort::may_read(Outbound& out) {
  if (!out.is_outstanding) return false;
  refresh(out);
  out.is_outstanding = !reached(out.done, out.last_outstanding);
  const Retirement& reader = header_.retirement(out.place);
  return out.is_outstanding && reader.revoked.load(std::memory_order_seq_cst) == 0;
}

void MemoryPort::abandon() {
  set_writing(false);
  revoke_windows();
}

Port::Outlook MemoryPort::progress(std::uint32_t idle, Clock::time_point /*deadline*/) {
  return idle == 0 || stay_awake(idle) ? Outlook::soon : Outlook::later;
}

/// Spins or yields. False if it is time to sleep.
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

void MemoryPort::arm(WokenBy by) {
  Bell& bell = header_.bell(self_);
  if (by == WokenBy::nobody) return bell.asleep.store(Bell::awake, std::memory_order_relaxed);
  rung_before_ = bell.rung.load(std::memory_order_acquire);
  bell.asleep.store(by == WokenBy::itself ? Bell::on_bell : Bell::on_descriptors,
                    std::memory_order_seq_cst);
  const Clock::time_point end = Clock::now() + until_descriptors_are_visible;
  while (Clock::now() < end) pause();
}

void MemoryPort::interrupt() {
  is_interrupted_.store(true, std::memory_order_release);
  ring_futex(header_.bell(self_));
}

void MemoryPort::wake_from(std::uint32_t asleep, std::uint32_t place) {
  if (asleep == Bell::on_bell) {
    ring_futex(header_.bell(place));
  } else if (transport_.setting().doorbells != nullptr) {
    transport_.setting().doorbells->ring(local_places_[place]);
  }
}

void MemoryPort::ring_futex(Bell& bell) {
  bell.rung.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &bell.rung, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void MemoryPort::sleep(Clock::time_point deadline) {
  const Clock::time_point now = Clock::now();
  // What has come needs no look: it is in this rank's memory.
  if (deadline <= now || is_interrupted_.exchange(false, std::memory_order_acquire)) return;
  const auto left = std::min<Clock::duration>(deadline - now, longest_nap);
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  const timespec timeout{.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  syscall(SYS_futex, &header_.bell(self_).rung, FUTEX_WAIT, rung_before_, &timeout, nullptr, 0);
}

}  // namespace tutti
