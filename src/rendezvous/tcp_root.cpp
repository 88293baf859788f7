#include "rendezvous/tcp_root.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"
#include "net/eviction.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// How long a newcomer may take to prove that it is a rank. A rank's messages are under way when
/// it is let in, so that this is a matter of round trips.
constexpr auto newcomers_time = 5s;
/// Newcomers at once, besides one for each rank. Beyond that one has to go.
constexpr std::size_t spare_newcomers = 128;
/// How often ranks are told who is missing, if that has changed.
constexpr auto news_interval = 200ms;
/// How many of the missing they are told.
constexpr std::size_t most_told = 32;
/// How long last words may take.
constexpr auto farewell_time = 500ms;
constexpr std::size_t most_dismissals = 4;

std::string encode(std::span<const std::uint32_t> ranks) {
  std::string body = std::to_string(ranks.size());
  for (std::size_t i = 0; i < std::min(ranks.size(), most_told); ++i) {
    body += " " + std::to_string(ranks[i]);
  }
  return body;
}

std::string name_missing(std::span<const std::uint32_t> ranks) {
  return name_ranks(ranks.first(std::min(ranks.size(), most_told)), ranks.size());
}

short events_of(const FramedChannel& connection, bool reads) {
  return static_cast<short>((reads ? POLLIN : 0) | (connection.has_unsent() ? POLLOUT : 0));
}

}  // namespace

TcpRoot::TcpRoot(Group group, Socket listener, Clock::time_point deadline)
    : group_(std::move(group)),
      greeting_(greeting(group_)),
      listener_(std::move(listener)),
      at_(bound_to(listener_)),
      patience_(deadline - Clock::now()),
      deadline_(deadline),
      members_(group_.size),
      log_(group_.rank) {
  if (group_.secret.bytes.empty() && !at_.is_loopback()) {
    throw Error(ErrorCode::invalid_argument,
                "rank 0 would listen on " + at_.text() +
                    ", where anybody could join the job: set TUTTI_SECRET to the same random text "
                    "on all ranks, or meet on 127.0.0.1");
  }
}

std::vector<std::string> TcpRoot::all_gather(const std::string& card) {
  if (card.size() > Frame::most_bytes) {
    throw Error(ErrorCode::invalid_argument,
                "the card of rank 0 has " + std::to_string(card.size()) + " bytes, more than " +
                    std::to_string(Frame::most_bytes));
  }
  const Clock::time_point deadline = first_ ? deadline_ : Clock::now() + patience_;
  first_ = false;
  members_[0].card = card;
  gather(deadline);
  hand_out(deadline);
  std::vector<std::string> cards;
  for (Member& each : members_) cards.push_back(*std::exchange(each.card, std::nullopt));
  return cards;
}

// Cards in ------------------------------------------------------------------------------------

void TcpRoot::gather(Clock::time_point deadline) {
  for (;;) {
    if (!is_complete()) let_in();
    attend_newcomers();
    attend_members();
    const std::vector<std::uint32_t> absent = missing();
    if (absent.empty()) break;
    if (Clock::now() >= deadline) {
      std::string message = "rank 0 has waited at " + at_.text() + " for " + name_missing(absent) +
                            " of " + std::to_string(group_.size) +
                            ", in vain: is it started, and can its host reach that address?";
      for (const std::string& each : dismissals_) message += "; turned away: " + each;
      fail(ErrorCode::timed_out, message);
    }
    if (shortage_.lasts(Clock::now())) {
      fail(ErrorCode::unsupported, "rank 0 cannot accept a connection from " +
                                       name_missing(absent) + ": " + system_reason(EMFILE));
    }
    tell_who_is_missing();
    wait(std::min(deadline, Clock::now() + news_interval), true);
  }
  // Whoever else came is not of this group.
  if (is_complete()) {
    newcomers_.clear();
    listener_ = Socket();
  }
}

std::vector<std::uint32_t> TcpRoot::missing() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < members_.size(); ++r) {
    if (!members_[r].card) ranks.push_back(r);
  }
  return ranks;
}

void TcpRoot::attend_members() {
  for (std::uint32_t r = 1; r < members_.size(); ++r) {
    // What is left in a channel wakes nobody, so that nothing may be.
    while (members_[r].connection && attend(r)) {
    }
  }
}

bool TcpRoot::attend(std::uint32_t rank) {
  Member& member = members_[rank];
  member.connection->advance();
  const std::optional<Frame> frame = member.connection->next();
  const std::string who = "rank " + std::to_string(rank);
  if (frame && frame->kind == Frame::Kind::contribution && !member.card) {
    member.card = frame->body;
  } else if (frame && frame->kind == Frame::Kind::gives_up) {
    fail(ErrorCode::timed_out, who + " waits no longer for " + name_missing(missing()) + " of " +
                                   std::to_string(group_.size));
  } else if (frame) {
    fail(ErrorCode::internal, who + " sent what nobody asked it for");
  } else if (!member.connection->lost().empty()) {
    fail(ErrorCode::peer_lost,
         who + " was lost during the rendezvous: " + member.connection->lost());
  }
  return frame.has_value();
}

void TcpRoot::tell_who_is_missing() {
  const Clock::time_point now = Clock::now();
  if (now < next_news_) return;
  next_news_ = now + news_interval;
  const std::vector<std::uint32_t> absent = missing();
  for (Member& each : members_) {
    // Who does not read the old news needs no new ones.
    if (!each.connection || each.told == absent || each.connection->has_unsent()) continue;
    each.connection->send(Frame::Kind::waiting, encode(absent));
    each.connection->advance();
    each.told = absent;
  }
}

// Cards out -----------------------------------------------------------------------------------

void TcpRoot::hand_out(Clock::time_point deadline) {
  auto wire = std::make_shared<std::string>();
  for (const Member& each : members_) append(*wire, Frame::Kind::contribution, *each.card);
  for (Member& each : members_) {
    if (each.connection) each.connection->send(wire);
    each.told.clear();
  }
  std::vector<std::uint32_t> unserved;
  for (;;) {
    unserved.clear();
    for (std::uint32_t r = 1; r < members_.size(); ++r) {
      FramedChannel& connection = *members_[r].connection;
      if (connection.has_unsent()) connection.advance();
      if (connection.has_unsent() && connection.lost().empty()) unserved.push_back(r);
    }
    if (unserved.empty()) return;
    if (Clock::now() >= deadline) {
      fail(ErrorCode::timed_out, "rank 0 could not hand all cards to " + name_missing(unserved));
    }
    // Who has its cards may be in the next round already, and has to wait.
    wait(deadline, false);
  }
}

// Newcomers -----------------------------------------------------------------------------------

void TcpRoot::let_in() {
  const Clock::time_point now = Clock::now();
  if (now < no_entry_until_) return;
  // No more at once than can be looked after, so that the ranks who are here get their turn.
  for (int count = 0; count < 64; ++count) {
    Socket socket = accept_from(listener_);
    shortage_.note(socket ? 0 : errno, now);
    if (!socket) {
      const bool out_of_sockets = errno == EMFILE || errno == ENFILE;
      if (!out_of_sockets) return;
      // Who came first and has not proved anything makes room, but not at once: a rank that was
      // just let in needs a moment.
      no_entry_until_ = now + (newcomers_.empty() ? 50ms : 5ms);
      if (!newcomers_.empty()) newcomers_.pop_front();
      return;
    }
    Newcomer newcomer{.connection = FramedChannel(Channel(std::move(socket))),
                      .deadline = now + newcomers_time};
    newcomer.from = source_of(newcomer.connection.socket());
    newcomer.handshake.emplace(Handshake::Side::accepts, group_.secret, greeting_);
    newcomers_.push_back(std::move(newcomer));
    if (newcomers_.size() > spare_newcomers + group_.size) make_room();
    if (!is_same_user(newcomers_.back().connection.socket())) {
      turn_away(newcomers_.back(), "it belongs to another user");
      newcomers_.pop_back();
    }
  }
}

void TcpRoot::make_room() {
  const Eviction next = choose_eviction(
      newcomers_, [](const Newcomer& each) -> const std::string& { return each.from; });
  const auto place = std::next(newcomers_.begin(), static_cast<std::ptrdiff_t>(next.index));
  turn_away(*place, "too many have come and not said who they are");
  newcomers_.erase(place);
}

void TcpRoot::attend_newcomers() {
  for (auto each = newcomers_.begin(); each != newcomers_.end();) {
    each = attend(*each) ? std::next(each) : newcomers_.erase(each);
  }
}

bool TcpRoot::attend(Newcomer& newcomer) {
  if (newcomer.handshake && !shake_hands(newcomer)) return false;
  if (!newcomer.handshake) {
    newcomer.connection.advance();
    if (!newcomer.leaves && !seat(newcomer)) return false;
    if (newcomer.leaves) {
      if (!newcomer.connection.has_unsent()) newcomer.connection.hang_up();
      (void)newcomer.connection.next();
      if (!newcomer.connection.lost().empty()) return false;
    }
  }
  if (Clock::now() < newcomer.deadline) return true;
  if (!newcomer.leaves) turn_away(newcomer, "it did not say in time who it is");
  return false;
}

bool TcpRoot::shake_hands(Newcomer& newcomer) {
  const Handshake::State state = newcomer.handshake->advance(newcomer.connection.channel());
  newcomer.wants_to_write = state == Handshake::State::writing;
  if (state == Handshake::State::refused) {
    // Who leaves by himself may be a rank that found another way in.
    if (!newcomer.handshake->has_left()) turn_away(newcomer, newcomer.handshake->refusal());
    return false;
  }
  if (state == Handshake::State::done) {
    const std::string greeted = newcomer.handshake->peer_greeting();
    newcomer.handshake.reset();
    const std::string fault = find_fault(group_, greeted, newcomer.rank);
    if (!fault.empty()) dismiss(newcomer, fault);
  }
  return true;
}

bool TcpRoot::seat(Newcomer& newcomer) {
  const std::optional<Frame> frame = newcomer.connection.next();
  // It may have tried several ways to get here, and now takes another.
  if (!frame) return newcomer.connection.lost().empty();
  if (frame->kind != Frame::Kind::join) {
    dismiss(newcomer, "it does not say that it joins");
    return true;
  }
  Member& member = members_[newcomer.rank.index()];
  if (member.connection) {
    dismiss(newcomer, "it says that it is rank " + std::to_string(newcomer.rank.index()) +
                          ", which is here already, from " +
                          connected_to(member.connection->socket()).text() +
                          ": start each rank once");
    return true;
  }
  member.connection = std::make_unique<FramedChannel>(std::move(newcomer.connection));
  ++joined_;
  // It waits for these first words.
  member.told = missing();
  member.connection->send(Frame::Kind::waiting, encode(member.told));
  return false;
}

void TcpRoot::dismiss(Newcomer& newcomer, const std::string& why) {
  turn_away(newcomer, why);
  if (dismissals_.size() < most_dismissals) {
    dismissals_.push_back(connected_to(newcomer.connection.socket()).text() + ", as " + why);
  }
  newcomer.connection.send(Frame::Kind::error,
                           static_cast<char>('0' + static_cast<int>(ErrorCode::mismatch)) + why);
  newcomer.connection.advance();
  newcomer.leaves = true;
}

void TcpRoot::turn_away(const Newcomer& newcomer, const std::string& why) {
  log_.note_rejection(newcomer.from, why, Clock::now());
}

// Waiting and failing -------------------------------------------------------------------------

void TcpRoot::wait(Clock::time_point until, bool reads) {
  std::vector<pollfd> watched;
  const auto watch = [&](int fd, short events) {
    watched.push_back({.fd = fd, .events = events, .revents = 0});
  };
  if (!is_complete()) {
    if (Clock::now() >= no_entry_until_) {
      watch(listener_.fd(), POLLIN);
    } else {
      until = std::min(until, no_entry_until_);
    }
  }
  for (const Newcomer& each : newcomers_) {
    until = std::min(until, each.deadline);
    const short writing = each.wants_to_write ? POLLOUT : 0;
    watch(each.connection.socket().fd(),
          static_cast<short>(events_of(each.connection, true) | writing));
  }
  for (const Member& each : members_) {
    if (each.connection && each.connection->lost().empty()) {
      watch(each.connection->socket().fd(), events_of(*each.connection, reads));
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  const int timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
  (void)poll(watched.data(), watched.size(), timeout);
}

void TcpRoot::fail(ErrorCode code, const std::string& message) {
  const std::string body = static_cast<char>('0' + static_cast<int>(code)) + message;
  for (Member& each : members_) {
    if (!each.connection) continue;
    each.connection->send(Frame::Kind::error, body);
    each.connection->advance();
  }
  newcomers_.clear();
  listener_ = Socket();
  // A connection closed with something unread in it would take the last word with it.
  const Clock::time_point deadline = Clock::now() + farewell_time;
  for (bool talking = true; talking && Clock::now() < deadline;) {
    talking = false;
    for (Member& each : members_) {
      if (!each.connection || !each.connection->lost().empty()) continue;
      each.connection->advance();
      (void)each.connection->next();
      if (!each.connection->has_unsent()) each.connection->hang_up();
      talking |= each.connection->lost().empty();
    }
    if (talking) wait(std::min(deadline, Clock::now() + 20ms), true);
  }
  throw Error(code, message);
}

}  // namespace tutti
