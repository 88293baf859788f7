#include "transport/tcp/tcp_port.hpp"

#include <sched.h>

#include <algorithm>
#include <numeric>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// Up to this many dry connections are polled one by one; with more, epoll tells which have data.
constexpr std::size_t few = 2;

/// While other connections keep the rank busy, a dry one is polled every so many times.
constexpr std::uint32_t patience_with_dry = 4;

/// Shorter data is read together with what follows it, and copied; but not the end of longer data,
/// since what follows that is probably long too.
constexpr std::size_t least_read_in_place = 4096;

/// Each peer has a connection of its own, and so a lane.
std::vector<std::uint32_t> own_lanes(std::uint32_t ranks) {
  std::vector<std::uint32_t> lanes(ranks);
  std::iota(lanes.begin(), lanes.end(), 0);
  return lanes;
}

}  // namespace

TcpPort::TcpPort(TcpTransport& transport, const Membership& membership)
    : Port(own_lanes(membership.size())),
      transport_(transport),
      context_(membership.context),
      self_(membership.self),
      patience_(transport.setting().patience),
      members_(membership.members),
      peers_(membership.size()) {
  for (std::uint32_t r = 0; r < membership.size(); ++r) peers_[r].member = membership.members[r];
}

TcpPort::~TcpPort() { abandon(); }

template <class F>
auto TcpPort::naming(Rank peer, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.code(), name(peer) + " " + error.what());
  }
}

std::span<const std::byte> TcpPort::arrived(Rank peer) {
  Peer* const state = reach(peer);
  if (state == nullptr) return {};
  return naming(peer, [&]() -> std::span<const std::byte> {
    const bool reads = !is_dry(*state);
    const std::uint64_t arrivals = state->line->arrivals.load(std::memory_order_acquire);
    const Connection::Arrival arrival =
        state->line->connection.arrived(*state->stream, tag_, reads);
    if (arrival.has_read) {
      ++news_;
    } else if (arrival.has_tried) {
      note_dry(*state, arrivals);
    }
    return arrival.data;
  });
}

/// Reads once. False if nothing has arrived.
bool TcpPort::pump(Peer& peer) {
  const std::uint64_t arrivals = peer.line->arrivals.load(std::memory_order_acquire);
  if (peer.line->connection.pump(*peer.stream)) {
    ++news_;
    return true;
  }
  note_dry(peer, arrivals);
  return false;
}

std::size_t TcpPort::poll(std::span<const Rank> peers, std::span<std::byte> into, const void** data,
                          std::span<const Rank> /*next*/) {
  if (peers.size() == 1 && !into.empty()) {
    Peer& from = peers_[peers.front()];
    if (into.size() > least_read_in_place || from.reads_on) {
      data[0] = into.data();
      from.moved = receive(peers.front(), into);
      if (from.moved > 0) from.reads_on = from.moved < into.size();
      return from.moved;
    }
  }
  std::size_t least = ~std::size_t{0};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const std::span<const std::byte> from = arrived(peers[i]);
    if (from.empty()) return 0;
    data[i] = from.data();
    least = std::min(least, from.size());
  }
  return least;
}

void TcpPort::consume(std::span<const Rank> peers, std::size_t bytes) {
  for (const Rank peer : peers) {
    Peer& state = peers_[peer];
    if (std::exchange(state.moved, 0) > 0) continue;
    state.line->connection.consume(*state.stream, bytes);
  }
}

std::size_t TcpPort::receive(Rank peer, std::span<std::byte> to) {
  Peer* const state = reach(peer);
  if (state == nullptr || to.empty()) return 0;
  return naming(peer, [&]() -> std::size_t {
    Connection& connection = state->line->connection;
    if (is_dry(*state) && connection.buffered(*state->stream, tag_).empty()) return 0;
    const std::uint64_t arrivals = state->line->arrivals.load(std::memory_order_acquire);
    const std::size_t bytes = connection.receive(*state->stream, to, tag_);
    if (bytes == 0) {
      note_dry(*state, arrivals);
    } else {
      ++news_;
    }
    return bytes;
  });
}

Port::Posted TcpPort::post(std::span<const Send> sends) {
  Posted posted;
  for (const Send& send : sends) {
    if (send.peers.size() != 1) {
      throw Error(ErrorCode::internal, "over TCP a piece goes to one peer at a time");
    }
    const std::size_t taken = this->send(send.peers.front(), send.data);
    posted.is_outstanding |= taken > 0;
    if (taken < send.data.size()) {
      posted.bytes = taken;
      break;
    }
    ++posted.sends;
  }
  return posted;
}

/// Takes as many bytes as it can. Zero if there is no room now.
std::size_t TcpPort::send(Rank peer, std::span<const std::byte> data) {
  Peer* const state = reach(peer);
  if (state == nullptr) return 0;
  // Nothing has changed since the last attempt failed.
  if (state->is_pending && state->full_since == news_) return 0;
  return naming(peer, [&]() -> std::size_t {
    Connection& connection = state->line->connection;
    FrameWriter::Taken taken = connection.send(*state->stream, data, tag_);
    const bool is_waiting = taken.bytes == 0 && Connection::is_exhausted(*state->stream);
    // Credit may have arrived: read it.
    if (is_waiting && !is_dry(*state) && pump(*state)) {
      taken = connection.send(*state->stream, data, tag_);
    }
    if (taken.bytes > 0) state->line->note_data();
    if (taken.bytes == 0 || taken.is_pending) note_pending(peer);
    return taken.bytes;
  });
}

void TcpPort::note_pending(Rank peer) {
  Peer& state = peers_[peer];
  state.full_since = news_;
  if (!std::exchange(state.is_pending, true)) pending_.push_back(peer);
}

std::size_t TcpPort::unreleased(Rank peer) {
  const Peer& state = peers_[peer];
  if (!state.stream) return 0;
  if (state.is_pending) (void)flush(peer);
  return state.stream->sent() - state.stream->released();
}

void TcpPort::copy_unreleased(Rank peer) {
  const Peer& state = peers_[peer];
  if (state.stream) state.line->connection.copy_pending(*state.stream);
}

void TcpPort::abandon() {
  if (std::exchange(is_abandoned_, true)) return;
  missing_.clear();
  pending_.clear();
  for (Peer& peer : peers_) {
    if (peer.stream) peer.line->connection.close(*peer.stream);
    const std::uint32_t member = peer.member;
    peer = Peer{};
    peer.member = member;
  }
}

void TcpPort::revoke() {
  if (!has_revoked_.exchange(true)) transport_.note_failure(members_);
}

void TcpPort::notify() {
  is_notified_.store(true, std::memory_order_seq_cst);
  if (transport_.has_sleepers()) transport_.wake();
}

/// The state of a connected peer; null if it is not connected yet.
TcpPort::Peer* TcpPort::reach(Rank peer) {
  Peer& state = peers_[peer];
  if (state.line != nullptr) return &state;
  if (is_abandoned_) {
    throw Error(ErrorCode::aborted, "the connection to " + name(peer) + " was given up");
  }
  if (state.failure) throw *state.failure;
  if (state.is_missing) return nullptr;
  TcpTransport::Line* const line = transport_.reach(state.member, context_);
  if (line == nullptr) {
    state.is_missing = true;
    missing_.push_back(peer);
    return nullptr;
  }
  attach(state, *line);
  return &state;
}

/// What a process has sent may come until the end of the connection has arrived.
bool TcpPort::may_arrive(Rank peer, bool has_ended) {
  const Peer& state = peers_[peer];
  if (!has_ended) {
    return state.line != nullptr || (!is_abandoned_ && transport_.is_connected(state.member));
  }
  if (state.line == nullptr) return !is_abandoned_ && transport_.may_connect(state.member);
  Connection& connection = state.line->connection;
  return !connection.is_hung_up() || connection.holds_data_for(context_);
}

void TcpPort::attach(Peer& peer, TcpTransport::Line& line) {
  peer.line = &line;
  peer.stream = line.connection.open(context_, *this);
  peer.is_missing = false;
}

bool TcpPort::is_dry(Peer& peer) const {
  return peer.dry_look == looks_ &&
         peer.dry_at == peer.line->arrivals.load(std::memory_order_acquire) &&
         ++peer.passed_by % patience_with_dry != 0;
}

void TcpPort::note_dry(Peer& peer, std::uint64_t arrivals) {
  if (peer.dry_look != looks_) ++dry_;
  if (peer.dry_look != looks_ || peer.dry_at != arrivals) peer.passed_by = 0;
  peer.dry_look = looks_;
  peer.dry_at = arrivals;
}

/// Writes what is pending. True if that released or completed anything.
bool TcpPort::flush(Rank peer) {
  Peer& state = peers_[peer];
  if (!state.is_pending || state.full_since == news_) return false;
  const std::uint64_t before = state.stream->released();
  const bool is_done = naming(peer, [&] {
    // The peer returns credit on the same connection.
    if (Connection::is_exhausted(*state.stream) && !is_dry(state)) (void)pump(state);
    return state.line->connection.flush() && !Connection::is_exhausted(*state.stream);
  });
  if (is_done) {
    state.is_pending = false;
    std::erase(pending_, peer);
    return true;
  }
  state.full_since = news_;
  return state.stream->released() > before;
}

Port::Outlook TcpPort::progress(std::uint32_t idle, Clock::time_point deadline) {
  if (flush_pending(deadline)) return Outlook::moved;
  return idle == 0 || stay_awake(idle) ? Outlook::soon : Outlook::later;
}

/// From now on no connection counts as dry.
void TcpPort::look_at_all() {
  ++looks_;
  dry_ = 0;
}

/// True if a peer that was missing is connected now.
bool TcpPort::attach_connected() {
  return std::erase_if(missing_, [this](Rank rank) {
           Peer& peer = peers_[rank];
           TcpTransport::Line* const line = transport_.reach(peer.member, context_);
           if (line != nullptr) attach(peer, *line);
           return line != nullptr;
         }) > 0;
}

/// True if there was anything to write, or a connection was made or given up.
bool TcpPort::flush_pending(Clock::time_point deadline) {
  ++news_;
  bool moved = false;
  for (std::size_t i = pending_.size(); i-- > 0;) {
    if (i >= pending_.size()) continue;
    const Rank peer = pending_[i];
    try {
      moved = flush(peer) || moved;
    } catch (const Error&) {
      // Only once: the next send to this peer, or the next look at what is released, throws too.
      std::erase(pending_, peer);
      throw;
    }
  }
  // A dial that another port has begun and no longer tends would end every sleep of this port at
  // once, before a look at the sockets.
  if (missing_.empty() && !transport_.has_missing()) return moved;
  transport_.tend(name(self_));
  const bool is_late = Clock::now() >= deadline;
  moved = attach_connected() || moved;
  for (const Rank rank : missing_) {
    Peer& peer = peers_[rank];
    if (peer.failure || (!is_late && !transport_.is_hopeless(peer.member))) continue;
    // Only once: a port that always goes on never looks at its sockets.
    peer.failure = transport_.failure_to_reach(peer.member, name(rank), name(self_));
    moved = true;
  }
  return moved;
}

/// Spins or yields. False if it is time to sleep.
bool TcpPort::stay_awake(std::uint32_t idle) {
  if (idle > patience_.spins + patience_.yields) return false;
  if (idle > patience_.spins) sched_yield();
  if (!missing_.empty() || dry_ > few) {
    (void)transport_.notice_arrivals();
  } else {
    look_at_all();
  }
  return true;
}

void TcpPort::arm(WokenBy by) {
  if (by == WokenBy::nobody) return;
  is_notified_.store(false, std::memory_order_seq_cst);
  news_before_ = transport_.news();
  for (const Rank peer : pending_) transport_.watch_room(peers_[peer].member);
  look_at_all();
}

void TcpPort::sleep(Clock::time_point deadline) {
  const Clock::time_point now = Clock::now();
  if (deadline <= now) {
    // A peer may have sent data over a connection that is not accepted yet. That takes a round for
    // each step of the handshake.
    constexpr int enough = 8;
    for (int round = 0; transport_.notice_arrivals() && !missing_.empty() && round < enough;
         ++round) {
    }
    (void)attach_connected();
    return look_at_all();
  }
  const auto is_awake = [this] {
    return is_notified_.load(std::memory_order_seq_cst) || transport_.news() != news_before_;
  };
  transport_.sleep(is_awake, std::min(deadline, now + patience_.nap));
}

std::string TcpPort::name(Rank rank) const { return transport_.name(rank, peers_[rank].member); }

}  // namespace tutti
