#include "rendezvous/admission_listener.hpp"

#include <poll.h>

#include <algorithm>

#include <tutti/error.hpp>

#include "net/eviction.hpp"
#include "rendezvous/dialer.hpp"
#include "rendezvous/group.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_newcomers = 256;
constexpr auto enough_time = 5s;
/// Who has just knocked needs this long at most to prove who it is, or is let in the next time.
constexpr auto talking_time = 250ms;
constexpr auto handing_time = 2s;
constexpr auto longest_nap = 20ms;

/// Who wants to join is not yet a rank: all say the same.
Group outside(const Secret& secret) {
  return {.rank = Rank{1}, .size = 2, .job = "join", .secret = secret};
}

std::chrono::milliseconds rest(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return std::clamp<std::chrono::milliseconds>(left, 0ms, longest_nap);
}

}  // namespace

AdmissionListener::AdmissionListener(const Endpoint& at, Secret secret)
    : secret_(std::move(secret)) {
  if (secret_.bytes.empty() && !at.is_loopback()) {
    throw Error(ErrorCode::invalid_argument,
                "a door at " + at.text() +
                    " is open to other hosts: set TUTTI_SECRET, or listen on 127.0.0.1");
  }
  listener_ = listen_on(at, {});
  listener_.close_in_children();
  at_ = bound_to(listener_);
}

std::size_t AdmissionListener::wait_for(std::size_t most, Clock::time_point until) {
  let_in();
  while (true) {
    std::erase_if(newcomers_, [this](Newcomer& each) { return !attend(each); });
    const Clock::time_point now = Clock::now();
    if (known() >= most || (now >= until && !is_in_talks(now))) return std::min(known(), most);
    // Strangers who come one after the other must not keep the group waiting.
    const bool is_open = now < until;
    sleep(is_open ? until : now + longest_nap, is_open);
    if (is_open) let_in();
  }
}

void AdmissionListener::hand_out(const std::vector<std::string>& tickets) {
  const Clock::time_point end = Clock::now() + handing_time;
  for (const std::string& ticket : tickets) {
    const auto next = std::find_if(newcomers_.begin(), newcomers_.end(),
                                   [](const Newcomer& each) { return each.is_known; });
    if (next == newcomers_.end()) return;
    next->connection->send(Frame::Kind::contribution, ticket);
    while (next->connection->has_unsent() && next->connection->lost().empty() &&
           Clock::now() < end) {
      next->connection->advance();
      if (next->connection->has_unsent()) sleep(Clock::now() + 1ms, false);
    }
    newcomers_.erase(next);
  }
}

void AdmissionListener::let_in() {
  while (known() < most_newcomers) {
    Socket socket = accept_from(listener_);
    if (!socket) return;
    const std::string from = source_of(socket);
    if (!is_same_user(socket)) {
      log_.note_rejection(from, "it belongs to another user", Clock::now());
      continue;
    }
    if (newcomers_.size() >= most_newcomers) make_room();
    Newcomer& newcomer = newcomers_.emplace_back();
    newcomer.from = from;
    newcomer.connection.emplace(Channel(std::move(socket)));
    newcomer.handshake.emplace(Handshake::Side::accepts, secret_, greeting(outside(secret_)));
    newcomer.since = Clock::now();
  }
}

/// One of those goes who have not said who they are.
void AdmissionListener::make_room() {
  std::vector<std::list<Newcomer>::iterator> strangers;
  for (auto each = newcomers_.begin(); each != newcomers_.end(); ++each) {
    if (!each->is_known) strangers.push_back(each);
  }
  const auto next =
      strangers[choose_eviction(strangers, [](auto each) { return each->from; }).index];
  log_.note_rejection(next->from, "too many have come and not said who they are", Clock::now());
  newcomers_.erase(next);
}

bool AdmissionListener::attend(Newcomer& newcomer) {
  if (newcomer.is_known) {
    newcomer.connection->advance();
    return newcomer.connection->lost().empty();
  }
  const auto turn_away = [&](const std::string& why) {
    log_.note_rejection(newcomer.from, why, Clock::now());
    return false;
  };
  switch (newcomer.handshake->advance(newcomer.connection->channel())) {
    case Handshake::State::reading:
    case Handshake::State::writing:
      return Clock::now() < newcomer.since + enough_time || turn_away("it did not say who it is");
    case Handshake::State::refused:
      return turn_away(newcomer.handshake->refusal());
    case Handshake::State::done:
      break;
  }
  if (newcomer.handshake->peer_greeting() != greeting(outside(secret_))) {
    return turn_away("it does not want to join");
  }
  newcomer.is_known = true;
  return true;
}

std::size_t AdmissionListener::known() const {
  return static_cast<std::size_t>(
      std::count_if(newcomers_.begin(), newcomers_.end(),
                    [](const Newcomer& newcomer) { return newcomer.is_known; }));
}

/// Whether somebody has just knocked who has not said who it is.
bool AdmissionListener::is_in_talks(Clock::time_point now) const {
  return std::any_of(newcomers_.begin(), newcomers_.end(), [&](const Newcomer& each) {
    return !each.is_known && now < each.since + talking_time;
  });
}

/// Until somebody says something, or knocks if it is open.
void AdmissionListener::sleep(Clock::time_point until, bool is_open) {
  std::vector<pollfd> waiting;
  if (is_open) waiting.push_back({.fd = listener_.fd(), .events = POLLIN, .revents = 0});
  for (const Newcomer& each : newcomers_) {
    if (each.is_known) continue;
    waiting.push_back({.fd = each.connection->socket().fd(), .events = POLLIN, .revents = 0});
  }
  (void)poll(waiting.data(), waiting.size(), static_cast<int>(rest(until).count()));
}

std::string request_admission(const Endpoint& at, const Secret& secret,
                              Clock::time_point deadline) {
  const Group group = outside(secret);
  Dialer dialer(group, [&] { return std::vector<Endpoint>{at}; });
  while (true) {
    FramedChannel door = dialer.dial(deadline);
    while (door.lost().empty() && Clock::now() < deadline) {
      door.advance();
      if (const auto frame = door.next()) return frame->body;
      pollfd waiting{.fd = door.socket().fd(), .events = POLLIN, .revents = 0};
      (void)poll(&waiting, 1, static_cast<int>(rest(deadline).count()));
    }
    if (Clock::now() >= deadline) {
      throw Error(ErrorCode::timed_out, "the group at " + at.text() +
                                            " has not let this process in: does it call grow()?");
    }
    // Whoever kept the door is gone; another rank will open it again.
    dialer.was_no_good(door.lost());
  }
}

}  // namespace tutti
