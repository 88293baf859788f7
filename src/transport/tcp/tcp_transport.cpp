#include "transport/tcp/tcp_transport.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include <tutti/error.hpp>

#include "net/greeting.hpp"
#include "transport/tcp/tcp_port.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A higher member waits this long before it asks the lower one to dial: usually that one dials
/// anyway.
constexpr auto asks_after = 10ms;
constexpr auto asks_again_after = 1s;

/// A rank that is refused for good goes on to answer for this time, or until it has refused the
/// other end, which may have dialled as well: else that one would wait until its deadline.
constexpr auto answers_for = 2s;

/// The longest wait for the last bytes to be sent after a failure.
constexpr auto farewell_after_failure = 2s;

int make_bell() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd >= 0) return fd;
  throw Error(ErrorCode::unsupported,
              "cannot create an eventfd; raise the limit of open files (ulimit -n)");
}

void drain(int fd) {
  std::array<char, 64> bytes{};
  while (read(fd, bytes.data(), bytes.size()) > 0) {
  }
}

constexpr std::uint32_t index_of_bell = 0;
constexpr std::uint32_t index_of_doorbell = 1;

}  // namespace

TcpTransport::TcpTransport(Setting setting)
    : setting_(std::move(setting)),
      acceptor_(std::move(setting_.listener), watch_, setting_.secret, setting_.group,
                setting_.self, static_cast<std::uint32_t>(setting_.contacts.size())),
      members_(setting_.contacts.size()),
      lines_(setting_.contacts.size()) {
  if (tcp_greeting(setting_.group, setting_.self).size() > Handshake::most_greeting) {
    throw Error(ErrorCode::invalid_argument,
                "the group's name is too long: \"" + setting_.group + "\"; use a shorter one");
  }
  bell_ = make_bell();
  // Level-triggered: the event is for the sleeping thread, but another thread may poll first.
  watch_.add_lasting(bell_, {.kind = Watch::Kind::bell, .index = index_of_bell});
  if (setting_.doorbells) {
    watch_.add(setting_.doorbells->fd(), {.kind = Watch::Kind::bell, .index = index_of_doorbell},
               false);
  }
}

TcpTransport::~TcpTransport() {
  say_farewell();
  close(bell_);
}

std::uint64_t TcpTransport::offer(const Membership& membership) {
  for (const std::uint32_t member : membership.members) {
    Line* const line = lines_[member].load(std::memory_order_acquire);
    if (line != nullptr && line->connection.is_hung_up()) line->connection.reset();
  }
  return 0;
}

std::unique_ptr<Port> TcpTransport::open(const Membership& membership,
                                         std::span<const std::uint64_t> /*offers*/) {
  return std::make_unique<TcpPort>(*this, membership);
}

std::size_t TcpTransport::connections() const {
  const std::lock_guard lock(setup_);
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [](const Member& each) { return each.line != nullptr; }));
}

std::string TcpTransport::name(Rank rank, std::uint32_t member) const {
  return "rank " + std::to_string(rank) + " on " + setting_.contacts[member].host;
}

// Connections -----------------------------------------------------------------------------------

TcpTransport::Line* TcpTransport::reach(std::uint32_t member, std::uint64_t context) {
  const auto is_good = [&](Line* line) {
    return line != nullptr &&
           (!line->connection.is_hung_up() || line->connection.holds_data_for(context));
  };
  Line* const known = lines_[member].load(std::memory_order_acquire);
  if (is_good(known)) return known;
  const std::lock_guard lock(setup_);
  // The peer may have sent data and closed before this rank created the communicator.
  for (const auto& line : ended_) {
    if (line->member == member && line->connection.holds_data_for(context)) return line.get();
  }
  Member& state = members_[member];
  if (is_good(state.line.get())) return state.line.get();
  if (state.line) end(member);
  if (state.is_missing) return nullptr;
  miss(member);
  return state.line.get();
}

/// Starts to connect. The lower member of a pair dials. The higher one waits, and after a while
/// asks the lower one to dial.
void TcpTransport::miss(std::uint32_t member) {
  Member& state = members_[member];
  state.is_missing = true;
  state.missing_since = Clock::now();
  state.refusals_before = acceptor_.final_refusals();
  missing_.push_back(member);
  missing_count_.store(missing_.size(), std::memory_order_release);
  if (setting_.self < member) dial(member);
}

void TcpTransport::dial(std::uint32_t member) {
  Member& state = members_[member];
  state.dial = std::make_unique<Dial>(member, setting_.contacts[member], setting_.self,
                                      setting_.group, setting_.secret, watch_);
  advance(member, Clock::now());
}

void TcpTransport::connect(std::uint32_t member, Channel channel) {
  Member& state = members_[member];
  // A peer that connects again has lost the earlier connection.
  if (state.line) drop(state);
  state.line = std::make_unique<Line>(member, std::move(channel));
  lines_[member].store(state.line.get(), std::memory_order_release);
  watch_.add(state.line->connection.fd(), {.kind = Watch::Kind::connection, .index = member},
             false);
  state.dial.reset();
  if (std::exchange(state.is_missing, false)) std::erase(missing_, member);
  missing_count_.store(missing_.size(), std::memory_order_release);
}

void TcpTransport::drop(Member& member) {
  watch_.remove(member.line->connection.fd());
  ended_.push_back(std::move(member.line));
}

/// The connection to a member has ended.
void TcpTransport::end(std::uint32_t member) {
  Member& state = members_[member];
  lines_[member].store(nullptr, std::memory_order_release);
  state.line->connection.reset();
  drop(state);
}

void TcpTransport::advance(std::uint32_t member, Clock::time_point now) {
  Dial* const dial = members_[member].dial.get();
  if (dial == nullptr) return;
  std::optional<Channel> channel = dial->advance(now);
  if (!channel) return;
  if (setting_.self < member) {
    connect(member, std::move(*channel));
  } else {
    // The peer now knows that it is needed, and will dial.
    members_[member].dial.reset();
    members_[member].missing_since = now + asks_again_after;
  }
}

void TcpTransport::tend(const std::string& self) {
  if (missing_count_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(setup_);
  const Clock::time_point now = Clock::now();
  acceptor_.close_late(now);
  acceptor_.accept_pending(now);
  acceptor_.shortage().require_none(self + " cannot accept a connection", now);
  for (std::size_t i = missing_.size(); i-- > 0;) {
    const std::uint32_t member = missing_[i];
    const Member& state = members_[member];
    if (state.dial != nullptr) {
      if (state.dial->due() <= now) advance(member, now);
    } else if (now >= state.missing_since + asks_after) {
      dial(member);
    }
  }
}

bool TcpTransport::may_connect(std::uint32_t member) {
  (void)notice_arrivals();
  if (is_connected(member)) return true;
  const std::lock_guard lock(setup_);
  const Dial* const dial = members_[member].dial.get();
  return acceptor_.unauthenticated() > 0 || (dial != nullptr && dial->is_kept_waiting());
}

bool TcpTransport::is_hopeless(std::uint32_t member) const {
  const std::lock_guard lock(setup_);
  return gives_up(members_[member], Clock::now());
}

bool TcpTransport::gives_up(const Member& member, Clock::time_point now) const {
  if (!member.dial) return false;
  if (member.dial->shortage().lasts(now)) return true;
  const auto since = member.dial->hopeless_since();
  if (!since) return false;
  return acceptor_.final_refusals() > member.refusals_before || now >= *since + answers_for;
}

Error TcpTransport::failure_to_reach(std::uint32_t member, const std::string& name,
                                     const std::string& self) const {
  const std::lock_guard lock(setup_);
  const Dial* const dial = members_[member].dial.get();
  const bool is_hopeless =
      dial != nullptr && (dial->is_hopeless() || dial->shortage().lasts(Clock::now()));
  const std::string& refusal = acceptor_.last_refusal();
  const std::string refused =
      refusal.empty() ? "" : " (the last connection attempt was refused: " + refusal + ")";
  if (is_hopeless || (dial != nullptr && setting_.self < member)) {
    dial->shortage().require_none(self + " cannot connect to " + name, Clock::now());
    const bool is_late = dial->is_kept_waiting() && !is_hopeless;
    return {is_late ? ErrorCode::timed_out : ErrorCode::peer_lost,
            self + " cannot reach " + name + " at " + dial->attempts() +
                (is_hopeless ? "" : refused) +
                ": check that it still runs and that no firewall blocks the connection"};
  }
  return {ErrorCode::timed_out, name + " has not connected to " + self + refused +
                                    ": check that it still runs and makes the same calls"};
}

// Waiting ---------------------------------------------------------------------------------------

bool TcpTransport::notice_arrivals() {
  const bool is_new = look(0ms, false);
  if (is_new && sleepers_.load(std::memory_order_seq_cst) > 0) wake();
  return is_new;
}

bool TcpTransport::look(std::chrono::milliseconds timeout, bool is_watcher) {
  Watch::Events events;
  bool is_new = false;
  for (const epoll_event& event : watch_.wait(timeout, events)) {
    const Watch::Tag tag = Watch::tag(event);
    if (tag.kind != Watch::Kind::bell || tag.index != index_of_bell) {
      handle(tag);
      is_new = true;
    } else if (is_watcher) {
      drain(bell_);
    }
  }
  if (is_new) news_.fetch_add(1, std::memory_order_seq_cst);
  return is_new;
}

void TcpTransport::handle(Watch::Tag tag) {
  switch (tag.kind) {
    case Watch::Kind::connection:
      if (Line* const line = lines_[tag.index].load(std::memory_order_acquire)) {
        line->arrivals.fetch_add(1);
      }
      return;
    case Watch::Kind::bell:
      setting_.doorbells->clear();
      return;
    case Watch::Kind::listener:
    case Watch::Kind::unauthenticated:
    case Watch::Kind::dial:
    case Watch::Kind::process:
      break;
  }
  const std::lock_guard lock(setup_);
  if (tag.kind == Watch::Kind::listener) {
    acceptor_.accept_pending(Clock::now());
  } else if (tag.kind == Watch::Kind::unauthenticated) {
    auto peer = acceptor_.advance(tag.index);
    if (!peer || peer->rank >= members_.size()) return;
    if (peer->rank < setting_.self) {
      connect(peer->rank, std::move(peer->channel));
    } else {
      // The peer asks to be dialled, so it has no connection. Drop this end if it has ended.
      const Member& member = members_[peer->rank];
      if (member.line && member.line->connection.is_hung_up()) end(peer->rank);
      if (!member.line && !member.is_missing) miss(peer->rank);
    }
  } else if (tag.kind == Watch::Kind::dial) {
    advance(tag.index, Clock::now());
  }
}

void TcpTransport::watch_room(std::uint32_t member) {
  const std::lock_guard lock(setup_);  // So that no other thread drops the line meanwhile.
  Line* const line = lines_[member].load(std::memory_order_acquire);
  if (line == nullptr || line->is_room_watched.exchange(true)) return;
  watch_.change(line->connection.fd(), {.kind = Watch::Kind::connection, .index = member}, true);
}

Clock::time_point TcpTransport::next_due(Clock::time_point until) {
  const std::lock_guard lock(setup_);
  const Clock::time_point now = Clock::now();
  acceptor_.close_late(now);
  for (const std::uint32_t member : missing_) {
    const Member& state = members_[member];
    until = std::min(until, state.dial ? state.dial->due() : state.missing_since + asks_after);
    if (!state.dial || !state.dial->is_hopeless()) continue;
    // Once: after that every port knows that the peer is out of reach.
    const Clock::time_point gives_up_at = *state.dial->hopeless_since() + answers_for;
    if (gives_up_at > now) until = std::min(until, gives_up_at);
  }
  return until;
}

/// One of the sleeping threads polls the descriptors, and the others wait for it. When it wakes, it
/// wakes them all: the events may be for them, and one of them must poll next.
void TcpTransport::sleep(const std::function<bool()>& is_awake, Clock::time_point until) {
  until = next_due(until);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  {
    std::unique_lock lock(waiting_);
    woken_.wait_until(lock, until, [&] { return !has_watcher_ || is_awake(); });
    if (has_watcher_ || is_awake()) {
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      return;
    }
    has_watcher_ = true;
  }
  const Clock::time_point now = Clock::now();
  if (until > now) {
    (void)look(std::chrono::ceil<std::chrono::milliseconds>(until - now), true);
  }
  const std::lock_guard lock(waiting_);
  has_watcher_ = false;
  if (sleepers_.fetch_sub(1, std::memory_order_seq_cst) > 1) woken_.notify_all();
}

void TcpTransport::wake() {
  const std::lock_guard lock(waiting_);
  woken_.notify_all();
  constexpr std::uint64_t one = 1;
  if (has_watcher_) (void)!write(bell_, &one, sizeof one);
}

// Shutdown --------------------------------------------------------------------------------------

void TcpTransport::note_failure(std::span<const std::uint32_t> members) {
  for (const std::uint32_t member : members) {
    if (Line* const line = lines_[member].load(std::memory_order_acquire)) {
      line->is_doubtful = true;
    }
  }
}

/// If a socket is closed with unread data, or if data arrives for it afterwards, the kernel resets
/// the connection, and bytes are lost that a late receiver's host had no room for yet. So incoming
/// data is discarded until everything has been sent.
void TcpTransport::say_farewell() {
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + setting_.closing_timeout;
  const Clock::time_point end_if_doubtful = std::min(end, begin + farewell_after_failure);
  const auto until_all = [&](auto&& is_done) {
    Clock::duration pause = 100us;
    for (bool all = false; !all;) {
      const Clock::time_point now = Clock::now();
      all = true;
      for (Member& member : members_) {
        if (!member.line || is_done(member.line->connection)) continue;
        if (now >= (member.line->is_doubtful ? end_if_doubtful : end)) continue;
        if (setting_.has_ended && setting_.has_ended(member.line->member)) continue;
        member.line->connection.discard();
        all = false;
      }
      if (all) return;
      std::this_thread::sleep_for(pause);
      pause = std::min<Clock::duration>(2 * pause, 10ms);
    }
  };
  until_all([](Connection& connection) {
    try {
      return connection.flush();
    } catch (const Error&) {
      return true;
    }
  });
  for (Member& member : members_) {
    if (!member.line) continue;
    member.line->connection.discard();
    member.line->connection.finish();
  }
  until_all([](const Connection& connection) { return connection.is_under_way(); });
}

}  // namespace tutti
