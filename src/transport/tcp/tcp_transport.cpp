#include "transport/tcp/tcp_transport.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

#include <tutti/error.hpp>

#include "transport/tcp/greeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Up to so many dry connections are asked one by one whether something has come; of more, the
/// system is asked which.
constexpr std::size_t few = 2;

/// As long as other connections keep the rank busy, a dry one is asked every so many times.
constexpr std::uint32_t patience_with_dry = 4;

/// How long the last bytes may take to arrive.
constexpr auto farewell_time = 2s;

}  // namespace

TcpTransport::TcpTransport(Rank self, std::vector<Contact> contacts, Socket listener, Secret secret,
                           std::string group, Patience patience)
    : self_(self),
      contacts_(std::move(contacts)),
      secret_(std::move(secret)),
      group_(std::move(group)),
      patience_(patience),
      reception_(std::move(listener), watch_, secret_, group_, self),
      peers_(contacts_.size()) {
  if (tcp_greeting(group_, self.index()).size() > Handshake::most_greeting) {
    throw Error(ErrorCode::invalid_argument,
                "the group's name is too long: \"" + group_ + "\"; take a shorter one");
  }
}

TcpTransport::~TcpTransport() { say_farewell(); }

std::span<const std::byte> TcpTransport::arrived(Rank peer) {
  Connection* const connection = reach(peer);
  if (connection == nullptr) return {};
  const std::span<const std::byte> before = connection->buffered(received_call_);
  Peer& state = peers_[peer.index()];
  if (!before.empty() || is_dry(state)) return before;
  if (!connection->fill()) {
    note_dry(state);
    return {};
  }
  ++news_;
  return connection->buffered(received_call_);
}

void TcpTransport::consume(Rank peer, std::size_t bytes) {
  peers_[peer.index()].connection->consume(bytes);
}

std::size_t TcpTransport::receive(Rank peer, std::span<std::byte> to) {
  Connection* const connection = reach(peer);
  if (connection == nullptr || to.empty()) return 0;
  Peer& state = peers_[peer.index()];
  if (is_dry(state) && connection->buffered(received_call_).empty()) return 0;
  const std::size_t bytes = connection->receive(to, received_call_);
  if (bytes == 0) {
    note_dry(state);
  } else {
    ++news_;
  }
  return bytes;
}

std::size_t TcpTransport::send(std::span<const Rank> peers, std::span<const std::byte> data) {
  if (peers.size() != 1) {
    throw Error(ErrorCode::internal, "over TCP a piece goes to one peer at a time");
  }
  const Rank peer = peers.front();
  Connection* const connection = reach(peer);
  if (connection == nullptr) return 0;
  (void)flush(peer);
  if (connection->is_pending()) return 0;
  data = data.first(std::min(data.size(), FrameHeader::most_bytes));
  connection->send(data, sent_call_);
  if (connection->is_pending()) {
    Peer& state = peers_[peer.index()];
    state.full_since = news_;
    if (!std::exchange(state.is_pending, true)) pending_.push_back(peer);
  }
  return data.size();
}

std::uint64_t TcpTransport::released(Rank peer) {
  const Peer& state = peers_[peer.index()];
  if (!state.connection) return 0;
  if (state.is_pending) (void)flush(peer);
  return state.connection->released();
}

std::uint64_t TcpTransport::sent(Rank peer) const {
  const Peer& state = peers_[peer.index()];
  return state.connection ? state.connection->sent() : 0;
}

bool TcpTransport::wait(std::uint32_t idle, Clock::time_point deadline) {
  if (goes_on(deadline)) return false;
  if (idle > patience_.spins + patience_.yields) {
    sleep(deadline);
    return true;
  }
  if (idle > patience_.spins) sched_yield();
  if (!missing_.empty() || dry_ > few) {
    look(0ms);
  } else {
    ++looks_;
    dry_ = 0;
  }
  return false;
}

bool TcpTransport::arm(Clock::time_point deadline) {
  if (goes_on(deadline)) return false;
  watch_room();
  return !look(0ms);
}

void TcpTransport::abandon() {
  missing_.clear();
  unwatched_.clear();
  pending_.clear();
  for (Peer& peer : peers_) {
    if (peer.is_watched) watch_.remove(peer.connection->fd());
    peer = Peer{};
  }
}

std::size_t TcpTransport::connections() const {
  return static_cast<std::size_t>(std::count_if(
      peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.connection != nullptr; }));
}

/// The connection to a peer; null if there is none yet.
Connection* TcpTransport::reach(Rank peer) {
  const Peer& state = peers_[peer.index()];
  if (!state.connection && !state.is_missing) miss(peer);
  return state.connection.get();
}

void TcpTransport::miss(Rank peer) {
  Peer& state = peers_[peer.index()];
  state.is_missing = true;
  missing_.push_back(peer);
  if (self_ < peer && !state.dial) {
    state.dial =
        std::make_unique<Dial>(peer, contacts_[peer.index()], self_, group_, secret_, watch_);
    advance(peer, Clock::now());
  }
}

void TcpTransport::open(std::uint32_t rank, Channel channel) {
  Peer& state = peers_[rank];
  if (state.connection) return;
  state.connection = std::make_unique<Connection>(std::move(channel), name(Rank{rank}));
  state.dial.reset();
  unwatched_.emplace_back(rank);
  if (std::exchange(state.is_missing, false)) std::erase(missing_, Rank{rank});
}

bool TcpTransport::is_dry(Peer& peer) const {
  return peer.dry_since == looks_ && ++peer.passed_by % patience_with_dry != 0;
}

void TcpTransport::note_dry(Peer& peer) {
  if (peer.dry_since == looks_) return;
  peer.dry_since = looks_;
  peer.passed_by = 0;
  ++dry_;
}

/// Writes what is pending, and says whether anything was written.
bool TcpTransport::flush(Rank peer) {
  Peer& state = peers_[peer.index()];
  if (!state.is_pending || state.full_since == news_) return false;
  const std::uint64_t before = state.connection->released();
  state.connection->flush();
  if (state.connection->is_pending()) {
    state.full_since = news_;
  } else {
    state.is_pending = false;
    std::erase(pending_, peer);
  }
  return state.connection->released() > before;
}

/// What can be done without waiting: writing and connecting. Says whether anything was done.
bool TcpTransport::goes_on(Clock::time_point deadline) {
  ++news_;
  bool moved = false;
  for (std::size_t i = pending_.size(); i-- > 0;) moved = flush(pending_[i]) || moved;
  const std::size_t missing = missing_.size();
  if (missing > 0) tend(deadline);
  return moved || missing_.size() < missing;
}

/// Goes on with what makes connections, as far as time alone makes a difference.
void TcpTransport::tend(Clock::time_point deadline) {
  const Clock::time_point now = Clock::now();
  reception_.close_late(now);
  reception_.open_door(now);
  reception_.shortage().require_none(name(self_) + " cannot accept a connection", now);
  for (std::size_t i = missing_.size(); i-- > 0;) {
    const Rank peer = missing_[i];
    const Dial* const dial = peers_[peer.index()].dial.get();
    if (now >= deadline || (dial != nullptr && dial->is_hopeless())) give_up(peer);
    if (dial != nullptr && dial->due() <= now) advance(peer, now);
  }
}

void TcpTransport::give_up(Rank peer) const {
  const Dial* const dial = peers_[peer.index()].dial.get();
  if (dial != nullptr) {
    dial->shortage().require_none(name(self_) + " cannot connect to " + name(peer), Clock::now());
    throw Error(ErrorCode::peer_lost,
                name(self_) + " cannot reach " + name(peer) + " at " + dial->attempts() +
                    ": see whether it still runs, and whether a firewall stands between them");
  }
  const std::string& refusal = reception_.last_refusal();
  throw Error(
      ErrorCode::timed_out,
      name(peer) + " has not connected to " + name(self_) +
          (refusal.empty() ? "" : " (of those who tried, the last was refused: " + refusal + ")") +
          ": see whether it still runs, and whether it makes the same calls");
}

void TcpTransport::advance(Rank peer, Clock::time_point now) {
  Dial* const dial = peers_[peer.index()].dial.get();
  if (dial == nullptr) return;
  std::optional<Channel> channel = dial->advance(now);
  if (channel) open(peer.index(), std::move(*channel));
}

void TcpTransport::sleep(Clock::time_point deadline) {
  watch_room();
  reception_.close_late(Clock::now());
  if (look(nap(deadline))) return;
  ++looks_;
  dry_ = 0;
}

/// Waits for news and takes note of it. False if there was none.
bool TcpTransport::look(std::chrono::milliseconds timeout) {
  watch_connections();
  const std::span<const epoll_event> events = watch_.wait(timeout);
  for (const epoll_event& event : events) handle(Watch::tag(event));
  return !events.empty();
}

void TcpTransport::watch_connections() {
  for (const Rank peer : unwatched_) {
    Peer& state = peers_[peer.index()];
    watch_.add(state.connection->fd(), {.kind = Watch::Kind::connection, .index = peer.index()},
               false);
    state.is_watched = true;
  }
  unwatched_.clear();
}

void TcpTransport::watch_room() {
  watch_connections();
  for (const Rank peer : pending_) {
    Peer& state = peers_[peer.index()];
    if (std::exchange(state.is_room_watched, true)) continue;
    watch_.change(state.connection->fd(), {.kind = Watch::Kind::connection, .index = peer.index()},
                  true);
  }
}

void TcpTransport::handle(Watch::Tag tag) {
  switch (tag.kind) {
    case Watch::Kind::listener:
      reception_.open_door(Clock::now());
      return;
    case Watch::Kind::stranger:
      if (auto guest = reception_.advance(tag.index)) open(guest->rank, std::move(guest->channel));
      return;
    case Watch::Kind::dial:
      advance(Rank{tag.index}, Clock::now());
      return;
    case Watch::Kind::connection:
      break;
    case Watch::Kind::process:
    case Watch::Kind::bell:
      return;  // Of these there are none here.
  }
  Peer& peer = peers_[tag.index];
  if (peer.dry_since != looks_) return;
  peer.dry_since = 0;
  --dry_;
}

std::chrono::milliseconds TcpTransport::nap(Clock::time_point deadline) const {
  const Clock::time_point now = Clock::now();
  Clock::time_point until = std::min(deadline, now + patience_.nap);
  for (const Rank peer : missing_) {
    const Dial* const dial = peers_[peer.index()].dial.get();
    if (dial != nullptr) until = std::min(until, dial->due());
  }
  if (until <= now) return 0ms;
  return std::chrono::ceil<std::chrono::milliseconds>(until - now);
}

/// Bytes that are still to be sent are lost if this end closes while something that nobody reads
/// any more comes in: the system then breaks the connection off. So what comes is thrown away until
/// all has been sent.
void TcpTransport::say_farewell() {
  const Clock::time_point end = Clock::now() + farewell_time;
  const auto until_all = [&](auto&& is_done) {
    for (bool all = false; !all && Clock::now() < end;) {
      all = true;
      for (Peer& peer : peers_) {
        if (!peer.connection || is_done(*peer.connection)) continue;
        peer.connection->discard();
        all = false;
      }
      if (!all) std::this_thread::sleep_for(100us);
    }
  };
  until_all([](Connection& connection) {
    try {
      connection.flush();
    } catch (const Error&) {
      return true;
    }
    return !connection.is_pending();
  });
  for (Peer& peer : peers_) {
    if (!peer.connection) continue;
    peer.connection->discard();
    peer.connection->finish();
  }
  until_all([](const Connection& connection) { return connection.is_under_way(); });
}

std::string TcpTransport::name(Rank rank) const {
  return "rank " + std::to_string(rank.index()) + " on " + contacts_[rank.index()].host;
}

}  // namespace tutti
