#include "rendezvous/admission_listener.hpp"

#include <poll.h>

#include <algorithm>

#include <tutti/error.hpp>

#include "net/eviction.hpp"
#include "rendezvous/group.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_newcomers = 256;
constexpr auto newcomer_handshake_time = 5s;
/// wait_for() waits this long for a handshake that has just begun. A slower newcomer is admitted
/// the next time.
constexpr auto young_time = 250ms;
constexpr auto ticket_time = 2s;
/// A newcomer that runs answers at once, unless its machine is very busy. One that was dropped asks
/// again.
constexpr auto answer_time = 500ms;
constexpr auto longest_sleep = 20ms;
/// A newcomer gives many signs of life in this time.
constexpr auto longest_silence = 1s;

std::chrono::milliseconds sleep_time(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return std::clamp<std::chrono::milliseconds>(left, 0ms, longest_sleep);
}

}  // namespace

AdmissionListener::AdmissionListener(const Endpoint& at, Secret secret)
    : secret_(std::move(secret)) {
  if (secret_.bytes.empty() && !at.is_loopback()) {
    throw Error(ErrorCode::invalid_argument,
                "new ranks would be admitted at " + at.text() +
                    ", which other hosts can reach: set TUTTI_SECRET, or listen on 127.0.0.1");
  }
  listener_ = listen_on(at, {});
  listener_.close_in_children();
  at_ = bound_to(listener_);
}

std::size_t AdmissionListener::wait_for(std::size_t most, Clock::time_point until) {
  accept_all();
  while (true) {
    std::erase_if(newcomers_, [this](Newcomer& each) { return !advance(each); });
    const Clock::time_point now = Clock::now();
    if (authenticated() >= most || (now >= until && !has_young_handshake(now))) {
      return std::min(authenticated(), most);
    }
    // No peer is accepted after `until`: peers that keep connecting must not delay the group.
    const bool accepts = now < until;
    sleep(accepts ? until : now + longest_sleep, accepts);
    if (accepts) accept_all();
  }
}

std::size_t AdmissionListener::confirm(std::size_t most) {
  std::vector<std::list<Newcomer>::iterator> asked;
  for (auto each = newcomers_.begin(); each != newcomers_.end() && asked.size() < most; ++each) {
    if (!each->is_authenticated) continue;
    each->is_asked = true;
    each->connection->send(Frame::Kind::waiting, "");
    asked.push_back(each);
  }
  const Clock::time_point end = Clock::now() + answer_time;
  const auto owes_answer = [](Newcomer& each) {
    each.connection->advance();
    if (const auto frame = each.connection->next()) each.is_asked = false;
    return each.is_asked && each.connection->lost().empty();
  };
  while (Clock::now() < end) {
    std::vector<pollfd> waiting;
    for (const auto each : asked) {
      if (!owes_answer(*each)) continue;
      waiting.push_back({.fd = each->connection->socket().fd(), .events = POLLIN, .revents = 0});
    }
    if (waiting.empty()) break;
    (void)poll(waiting.data(), waiting.size(), static_cast<int>(sleep_time(end).count()));
  }
  std::size_t present = 0;
  for (const auto each : asked) {
    if (!each->is_asked && each->connection->lost().empty()) {
      ++present;
      continue;
    }
    log_.note_rejection(each->from, "it did not answer when it was to be admitted", Clock::now());
    newcomers_.erase(each);
  }
  return present;
}

void AdmissionListener::admit(const std::vector<std::string>& tickets) {
  admitted_.clear();
  const Clock::time_point end = Clock::now() + ticket_time;
  for (const std::string& ticket : tickets) {
    const auto next = std::find_if(newcomers_.begin(), newcomers_.end(),
                                   [](const Newcomer& each) { return each.is_authenticated; });
    if (next == newcomers_.end()) return;
    next->connection->send(Frame::Kind::contribution, ticket);
    while (next->connection->has_unsent() && next->connection->lost().empty() &&
           Clock::now() < end) {
      next->connection->advance();
      if (next->connection->has_unsent()) sleep(Clock::now() + 1ms, false);
    }
    next->heard_at = Clock::now();
    admitted_.splice(admitted_.end(), newcomers_, next);
  }
}

std::string AdmissionListener::trouble_of_admitted() {
  const Clock::time_point now = Clock::now();
  for (Newcomer& each : admitted_) {
    each.connection->advance();
    while (each.connection->next()) each.heard_at = now;
    const std::string process = "the process at " + each.from + " that was to join ";
    if (!each.connection->lost().empty()) return process + "is gone: " + each.connection->lost();
    if (now - each.heard_at > longest_silence) return process + "does not answer";
  }
  return "";
}

void AdmissionListener::accept_all() {
  while (authenticated() < most_newcomers) {
    Socket socket = accept_from(listener_);
    if (!socket) return;
    const std::string from = source_of(socket);
    if (!is_same_user(socket)) {
      log_.note_rejection(from, "it belongs to another user", Clock::now());
      continue;
    }
    if (newcomers_.size() >= most_newcomers) evict();
    Newcomer& newcomer = newcomers_.emplace_back();
    newcomer.from = from;
    newcomer.connection.emplace(Channel(std::move(socket)));
    newcomer.handshake.emplace(Handshake::Side::accepts, secret_,
                               greeting(newcomer_group(secret_)));
    newcomer.since = Clock::now();
  }
}

/// Drops one of the newcomers that are not authenticated.
void AdmissionListener::evict() {
  std::vector<std::list<Newcomer>::iterator> candidates;
  for (auto each = newcomers_.begin(); each != newcomers_.end(); ++each) {
    if (!each->is_authenticated) candidates.push_back(each);
  }
  const auto next =
      candidates[choose_eviction(candidates, [](auto each) { return each->from; }).index];
  log_.note_rejection(next->from, "too many unauthenticated connections", Clock::now());
  newcomers_.erase(next);
}

bool AdmissionListener::advance(Newcomer& newcomer) {
  if (newcomer.is_authenticated) {
    newcomer.connection->advance();
    return newcomer.connection->lost().empty();
  }
  const auto reject = [&](const std::string& why) {
    log_.note_rejection(newcomer.from, why, Clock::now());
    return false;
  };
  switch (newcomer.handshake->advance(newcomer.connection->channel())) {
    case Handshake::State::reading:
    case Handshake::State::writing:
      return Clock::now() < newcomer.since + newcomer_handshake_time ||
             reject("it did not complete the handshake in time");
    case Handshake::State::refused:
      return reject(newcomer.handshake->refusal());
    case Handshake::State::done:
      break;
  }
  if (newcomer.handshake->peer_greeting() != greeting(newcomer_group(secret_))) {
    return reject("it does not ask for admission");
  }
  newcomer.is_authenticated = true;
  return true;
}

std::size_t AdmissionListener::authenticated() const {
  return static_cast<std::size_t>(
      std::count_if(newcomers_.begin(), newcomers_.end(),
                    [](const Newcomer& newcomer) { return newcomer.is_authenticated; }));
}

/// True if a handshake has just begun.
bool AdmissionListener::has_young_handshake(Clock::time_point now) const {
  return std::any_of(newcomers_.begin(), newcomers_.end(), [&](const Newcomer& each) {
    return !each.is_authenticated && now < each.since + young_time;
  });
}

/// Sleeps until a newcomer sends something, or one connects if `accepts`.
void AdmissionListener::sleep(Clock::time_point until, bool accepts) {
  std::vector<pollfd> waiting;
  if (accepts) waiting.push_back({.fd = listener_.fd(), .events = POLLIN, .revents = 0});
  for (const Newcomer& each : newcomers_) {
    if (each.is_authenticated) continue;
    waiting.push_back({.fd = each.connection->socket().fd(), .events = POLLIN, .revents = 0});
  }
  (void)poll(waiting.data(), waiting.size(), static_cast<int>(sleep_time(until).count()));
}

}  // namespace tutti
