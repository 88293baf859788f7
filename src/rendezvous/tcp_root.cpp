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

/// How long a peer may take to prove that it is a rank. A rank's messages are already under way
/// when it is accepted, so this takes some round trips.
constexpr auto handshake_time = 5s;
/// Unproven connections at a time, besides one for each rank. Beyond that one is evicted.
constexpr std::size_t spare_newcomers = 128;
/// How often ranks are told which ranks are missing, if that has changed.
constexpr auto news_interval = 200ms;
/// At most so many missing ranks are listed.
constexpr std::size_t most_told = 32;
/// How long sending the final error may take.
constexpr auto drain_time = 500ms;
constexpr std::size_t most_rejections = 4;

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

TcpRoot::TcpRoot(Group group, Socket listener, Clock::time_point deadline, DeadlineSpan span,
                 Inquiry inquiry)
    : group_(std::move(group)),
      greeting_(greeting(group_)),
      listener_(std::move(listener)),
      at_(bound_to(listener_)),
      patience_(deadline - Clock::now()),
      deadline_(deadline),
      span_(span),
      inquiry_(std::move(inquiry)),
      members_(group_.size),
      log_(group_.rank) {
  if (group_.secret.bytes.empty() && !at_.is_loopback()) {
    throw Error(ErrorCode::invalid_argument,
                "rank 0 would listen on " + at_.text() +
                    ", where any host could join the job: set TUTTI_SECRET to the same random text "
                    "on all ranks, or use 127.0.0.1");
  }
}

std::vector<std::string> TcpRoot::all_gather(const std::string& contribution) {
  if (contribution.size() > Frame::most_bytes) {
    throw Error(ErrorCode::invalid_argument,
                "rank 0 brings " + std::to_string(contribution.size()) +
                    " bytes to the rendezvous, more than " + std::to_string(Frame::most_bytes));
  }
  const bool is_set = first_ || span_ == DeadlineSpan::all_rounds;
  const Clock::time_point deadline = is_set ? deadline_ : Clock::now() + patience_;
  first_ = false;
  members_[0].contribution = contribution;
  gather(deadline);
  distribute(deadline);
  std::vector<std::string> contributions;
  for (Member& each : members_) {
    contributions.push_back(*std::exchange(each.contribution, std::nullopt));
  }
  return contributions;
}

// Gathering -----------------------------------------------------------------------------------

void TcpRoot::gather(Clock::time_point deadline) {
  for (;;) {
    if (!is_complete()) accept_all();
    advance_newcomers();
    advance_members();
    const std::vector<std::uint32_t> absent = missing();
    if (absent.empty()) break;
    if (Clock::now() >= deadline) {
      std::string message = "rank 0 has waited at " + at_.text() + " for " + name_missing(absent) +
                            " of " + std::to_string(group_.size) +
                            ": check that it is started, and that its host can reach that address";
      for (const std::string& each : rejections_) message += "; rejected: " + each;
      fail(ErrorCode::timed_out, message);
    }
    if (const std::string why = inquiry_ ? inquiry_(absent) : ""; !why.empty()) {
      fail(ErrorCode::peer_lost, why);
    }
    if (shortage_.lasts(Clock::now())) {
      fail(ErrorCode::unsupported, "rank 0 cannot accept a connection from " +
                                       name_missing(absent) + ": " + system_reason(EMFILE));
    }
    tell_missing_ranks();
    const Clock::duration interval = inquiry_ ? between_inquiries : news_interval;
    wait(std::min(deadline, Clock::now() + interval), true);
  }
  // The other connections are not of this group.
  if (is_complete()) {
    newcomers_.clear();
    listener_ = Socket();
  }
}

std::vector<std::uint32_t> TcpRoot::missing() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < members_.size(); ++r) {
    if (!members_[r].contribution) ranks.push_back(r);
  }
  return ranks;
}

void TcpRoot::advance_members() {
  for (std::uint32_t r = 1; r < members_.size(); ++r) {
    if (!std::exchange(members_[r].is_ready, false)) continue;
    // Read all frames: poll() does not report bytes that the channel has already buffered.
    while (members_[r].connection && advance(r)) {
    }
  }
}

bool TcpRoot::advance(std::uint32_t rank) {
  Member& member = members_[rank];
  member.connection->advance();
  const std::optional<Frame> frame = member.connection->next();
  const std::string name = "rank " + std::to_string(rank);
  if (frame && frame->kind == Frame::Kind::contribution && !member.contribution) {
    member.contribution = frame->body;
  } else if (frame && frame->kind == Frame::Kind::gives_up) {
    fail(ErrorCode::timed_out, name + " waits no longer for " + name_missing(missing()) + " of " +
                                   std::to_string(group_.size));
  } else if (frame) {
    fail(ErrorCode::internal, name + " sent an unexpected frame");
  } else if (!member.connection->lost().empty()) {
    fail(ErrorCode::peer_lost,
         name + " was lost during the rendezvous: " + member.connection->lost());
  }
  return frame.has_value();
}

void TcpRoot::tell_missing_ranks() {
  const Clock::time_point now = Clock::now();
  if (now < next_news_) return;
  next_news_ = now + news_interval;
  const std::vector<std::uint32_t> absent = missing();
  for (Member& each : members_) {
    // A rank that has not read the last list gets no new one.
    if (!each.connection || each.told == absent || each.connection->has_unsent()) continue;
    each.connection->send(Frame::Kind::waiting, encode(absent));
    each.connection->flush();
    each.told = absent;
  }
}

// Distributing --------------------------------------------------------------------------------

void TcpRoot::distribute(Clock::time_point deadline) {
  auto wire = std::make_shared<std::string>();
  for (const Member& each : members_) append(*wire, Frame::Kind::contribution, *each.contribution);
  for (Member& each : members_) {
    if (each.connection) each.connection->send(wire);
    each.told.clear();
  }
  std::vector<std::uint32_t> unserved;
  for (;;) {
    unserved.clear();
    for (std::uint32_t r = 1; r < members_.size(); ++r) {
      FramedChannel& connection = *members_[r].connection;
      connection.flush();
      if (connection.has_unsent()) unserved.push_back(r);
    }
    if (unserved.empty()) return;
    if (Clock::now() >= deadline) {
      fail(ErrorCode::timed_out,
           "rank 0 could not send all contributions to " + name_missing(unserved));
    }
    // Nothing is read: a rank that has been served may be in the next round already.
    wait(deadline, false);
  }
}

// Newcomers -----------------------------------------------------------------------------------

void TcpRoot::accept_all() {
  const Clock::time_point now = Clock::now();
  if (now < next_accept_) return;
  // Bounded, so that ranks that have joined get their turn.
  for (int count = 0; count < 64; ++count) {
    Socket socket = accept_from(listener_);
    shortage_.note(socket ? 0 : errno, now);
    if (!socket) {
      const bool is_out_of_descriptors = errno == EMFILE || errno == ENFILE;
      if (!is_out_of_descriptors) return;
      // The oldest unproven connection is evicted, but not at once: a rank that was just accepted
      // needs a moment for its handshake.
      next_accept_ = now + (newcomers_.empty() ? 50ms : 5ms);
      if (!newcomers_.empty()) newcomers_.pop_front();
      return;
    }
    Newcomer newcomer{.connection = FramedChannel(Channel(std::move(socket))),
                      .deadline = now + handshake_time};
    newcomer.from = source_of(newcomer.connection.socket());
    newcomer.handshake.emplace(Handshake::Side::accepts, group_.secret, greeting_);
    newcomers_.push_back(std::move(newcomer));
    if (newcomers_.size() > spare_newcomers + group_.size) evict();
    if (!is_same_user(newcomers_.back().connection.socket())) {
      log_rejection(newcomers_.back(), "it belongs to another user");
      newcomers_.pop_back();
    }
  }
}

void TcpRoot::evict() {
  const Eviction next = choose_eviction(
      newcomers_, [](const Newcomer& each) -> const std::string& { return each.from; });
  const auto place = std::next(newcomers_.begin(), static_cast<std::ptrdiff_t>(next.index));
  log_rejection(*place, "too many unauthenticated connections");
  newcomers_.erase(place);
}

void TcpRoot::advance_newcomers() {
  for (auto each = newcomers_.begin(); each != newcomers_.end();) {
    each = advance(*each) ? std::next(each) : newcomers_.erase(each);
  }
}

bool TcpRoot::advance(Newcomer& newcomer) {
  if (newcomer.handshake && !shake_hands(newcomer)) return false;
  if (!newcomer.handshake) {
    newcomer.connection.advance();
    if (!newcomer.is_rejected && !join(newcomer)) return false;
    if (newcomer.is_rejected) {
      if (!newcomer.connection.has_unsent()) newcomer.connection.hang_up();
      (void)newcomer.connection.next();
      if (!newcomer.connection.lost().empty()) return false;
    }
  }
  if (Clock::now() < newcomer.deadline) return true;
  if (!newcomer.is_rejected) log_rejection(newcomer, "it did not complete the handshake in time");
  return false;
}

bool TcpRoot::shake_hands(Newcomer& newcomer) {
  const Handshake::State state = newcomer.handshake->advance(newcomer.connection.channel());
  newcomer.wants_to_write = state == Handshake::State::writing;
  if (state == Handshake::State::refused) {
    // A peer that closes the connection may be a rank that got through by another address.
    if (!newcomer.handshake->has_left()) log_rejection(newcomer, newcomer.handshake->refusal());
    return false;
  }
  if (state == Handshake::State::done) {
    const std::string greeted = newcomer.handshake->peer_greeting();
    newcomer.handshake.reset();
    const std::string fault = find_fault(group_, greeted, newcomer.rank);
    if (!fault.empty()) reject(newcomer, fault);
  }
  return true;
}

bool TcpRoot::join(Newcomer& newcomer) {
  const std::optional<Frame> frame = newcomer.connection.next();
  // A rank may have connected by several addresses, and now use another.
  if (!frame) return newcomer.connection.lost().empty();
  if (frame->kind != Frame::Kind::join) {
    reject(newcomer, "it sent another frame than join");
    return true;
  }
  Member& member = members_[newcomer.rank];
  if (member.connection) {
    reject(newcomer, "it claims to be rank " + std::to_string(newcomer.rank) +
                         ", which has already joined from " +
                         connected_to(member.connection->socket()).text() +
                         ": start each rank once");
    return true;
  }
  member.connection = std::make_unique<FramedChannel>(std::move(newcomer.connection));
  member.is_ready = true;  // Its contribution may have come with the join.
  ++joined_;
  // The rank waits for this first frame.
  member.told = missing();
  member.connection->send(Frame::Kind::waiting, encode(member.told));
  return false;
}

void TcpRoot::reject(Newcomer& newcomer, const std::string& why) {
  log_rejection(newcomer, why);
  if (rejections_.size() < most_rejections) {
    rejections_.push_back(connected_to(newcomer.connection.socket()).text() + ": " + why);
  }
  newcomer.connection.send(Frame::Kind::error,
                           static_cast<char>('0' + static_cast<int>(ErrorCode::mismatch)) + why);
  newcomer.connection.advance();
  newcomer.is_rejected = true;
}

void TcpRoot::log_rejection(const Newcomer& newcomer, const std::string& why) {
  log_.note_rejection(newcomer.from, why, Clock::now());
}

// Waiting and failing -------------------------------------------------------------------------

void TcpRoot::wait(Clock::time_point until, bool reads) {
  std::vector<pollfd> watched;
  const auto watch = [&](int fd, short events) {
    watched.push_back({.fd = fd, .events = events, .revents = 0});
  };
  if (!is_complete()) {
    if (Clock::now() >= next_accept_) {
      watch(listener_.fd(), POLLIN);
    } else {
      until = std::min(until, next_accept_);
    }
  }
  for (const Newcomer& each : newcomers_) {
    until = std::min(until, each.deadline);
    const short writing = each.wants_to_write ? POLLOUT : 0;
    watch(each.connection.socket().fd(),
          static_cast<short>(events_of(each.connection, true) | writing));
  }
  const std::size_t first_member = watched.size();
  std::vector<Member*> members;
  for (Member& each : members_) {
    if (each.connection && each.connection->lost().empty()) {
      watch(each.connection->socket().fd(), events_of(*each.connection, reads));
      members.push_back(&each);
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  const int timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
  if (poll(watched.data(), watched.size(), timeout) <= 0) return;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (watched[first_member + i].revents != 0) members[i]->is_ready = true;
  }
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
  // Closing a connection with unread data resets it, and the peer would lose the error.
  const Clock::time_point deadline = Clock::now() + drain_time;
  for (bool is_busy = true; is_busy && Clock::now() < deadline;) {
    is_busy = false;
    for (Member& each : members_) {
      if (!each.connection || !each.connection->lost().empty()) continue;
      each.connection->advance();
      (void)each.connection->next();
      if (!each.connection->has_unsent()) each.connection->hang_up();
      is_busy |= each.connection->lost().empty();
    }
    if (is_busy) wait(std::min(deadline, Clock::now() + 20ms), true);
  }
  throw Error(code, message);
}

}  // namespace tutti
