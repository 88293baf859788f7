#include "net/dial.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/system_reason.hpp"
#include "net/greeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Back-off between rounds.
constexpr std::chrono::milliseconds shortest_rest{2};
constexpr std::chrono::milliseconds longest_rest{500};

/// Time given to an address before the next one is tried. A busy rank answers late, so answer_time
/// doubles from round to round.
constexpr auto connect_time = 3s;
constexpr auto answer_time = 5s;
constexpr std::uint32_t most_doublings = 8;

}  // namespace

Dial::Dial(Rank peer, const Contact& contact, Rank self, const std::string& group,
           const Secret& secret, Watch& watch)
    : peer_(peer),
      contact_(contact),
      self_(self),
      group_(group),
      secret_(secret),
      watch_(watch),
      failures_(contact.endpoints.size(), {.why = "no answer yet"}) {}

Dial::~Dial() {
  if (channel_) watch_.remove(channel_.fd());
}

std::optional<Channel> Dial::advance(Clock::time_point now) {
  if (channel_ && now >= due_) {
    fail({.why = handshake_ ? "connected, but no answer" : "no answer"}, now);
  }
  if (!channel_) {
    if (now < due_ || contact_.endpoints.empty()) return std::nullopt;
    begin(now);
  }
  if (!channel_ || !is_connected(now)) return std::nullopt;
  switch (handshake_->advance(channel_)) {
    case Handshake::State::reading:
    case Handshake::State::writing:
      // Once this end has sent its proof, the peer may already use this connection: do not give up.
      if (handshake_->has_proved()) due_ = Clock::time_point::max();
      return std::nullopt;
    case Handshake::State::refused:
      fail({.why = handshake_->refusal(), .is_final = handshake_->is_final()}, now);
      return std::nullopt;
    case Handshake::State::done:
      break;
  }
  if (rank_that_greets(handshake_->peer_greeting(), group_) != peer_) {
    fail({.why =
              "another process listens there and answers \"" + handshake_->peer_greeting() + "\""},
         now);
    return std::nullopt;
  }
  watch_.remove(channel_.fd());
  return std::exchange(channel_, Channel());
}

std::string Dial::attempts() const {
  std::string text;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (i > 0) text += ", ";
    text += contact_.endpoints[i].text() + " (" + failures_[i].why + ")";
  }
  return text.empty() ? "no address known" : text;
}

bool Dial::is_refused() const {
  return rounds_ > 0 && !channel_ &&
         std::all_of(failures_.begin(), failures_.end(),
                     [](const Failure& failure) { return failure.is_refused; });
}

void Dial::begin(Clock::time_point now) {
  channel_ = Channel(begin_connect(contact_.endpoints[endpoint_]));
  shortage_.note(channel_ ? 0 : errno, now);
  if (!channel_) {
    fail(errno, now);
    return;
  }
  due_ = now + connect_time;
  watch_.add(channel_.fd(), {.kind = Watch::Kind::dial, .index = peer_}, true);
}

void Dial::fail(int error, Clock::time_point now) {
  fail({.why = system_reason(error), .is_refused = error == ECONNREFUSED}, now);
}

void Dial::fail(const Failure& failure, Clock::time_point now) {
  Failure& last = failures_[endpoint_];
  if (failure.is_final || !last.is_final) last = failure;
  // The process that refused may have ended since.
  last.is_refused = failure.is_refused;
  if (channel_) watch_.remove(channel_.fd());
  channel_ = Channel();
  handshake_.reset();
  due_ = now;
  if (++endpoint_ < contact_.endpoints.size()) return;
  endpoint_ = 0;
  due_ = now + std::min(longest_rest, shortest_rest * (1U << std::min(rounds_, most_doublings)));
  ++rounds_;
  const bool is_hopeless = std::all_of(failures_.begin(), failures_.end(),
                                       [](const Failure& each) { return each.is_final; });
  if (is_hopeless && !hopeless_since_) hopeless_since_ = now;
}

bool Dial::is_connected(Clock::time_point now) {
  if (handshake_) return true;
  pollfd poll_for{.fd = channel_.fd(), .events = POLLOUT, .revents = 0};
  if (poll(&poll_for, 1, 0) == 0) return false;
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(channel_.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    fail(error, now);
    return false;
  }
  handshake_.emplace(Handshake::Side::dials, secret_, tcp_greeting(group_, self_));
  // A final refusal stays the reason, although the dial goes on.
  if (!failures_[endpoint_].is_final) failures_[endpoint_].why = "connected, but no answer yet";
  const bool only_one = contact_.endpoints.size() == 1;
  due_ = only_one ? Clock::time_point::max()
                  : now + answer_time * (1U << std::min(rounds_, most_doublings));
  return true;
}

}  // namespace tutti
