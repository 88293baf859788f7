#include "net/acceptor.hpp"

#include <algorithm>
#include <cerrno>

#include "net/eviction.hpp"
#include "net/greeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A rank sends its hello with the connection and answers within a round trip.
constexpr auto enough_time = 10s;
/// When all places are taken, a peer may be evicted after this time; sooner if other peers come
/// from the same source. A rank needs no more than a round trip.
constexpr auto fair_time = 1s;
constexpr auto fair_time_in_crowd = 20ms;

}  // namespace

Acceptor::Acceptor(Socket listener, Watch& watch, const Secret& secret, std::string group,
                   Rank self, std::uint32_t ranks)
    : listener_(std::move(listener)),
      watch_(watch),
      secret_(secret),
      group_(std::move(group)),
      self_(self),
      ranks_(ranks),
      log_(self) {
  listener_.close_in_children();
  if (listener_) watch_.add(listener_.fd(), {.kind = Watch::Kind::listener, .index = 0}, false);
}

Acceptor::~Acceptor() {
  if (listener_) watch_.remove(listener_.fd());
  for (const Place& place : places_) {
    if (place.channel) watch_.remove(place.channel.fd());
  }
}

void Acceptor::accept_pending(Clock::time_point now) {
  if (!listener_) return;
  may_be_pending_ = true;
  while (Place* const place = next_place(now)) {
    Socket socket = accept_from(listener_);
    shortage_.note(socket ? 0 : errno, now);
    if (!socket) {
      may_be_pending_ = errno == EMFILE || errno == ENFILE;
      return;
    }
    const std::string from = source_of(socket);
    if (!is_same_user(socket)) {
      log_.note_rejection(from, "it belongs to another user", now);
      continue;
    }
    if (place->channel) reject(*place, "too many unauthenticated connections");
    place->from = from;
    place->channel = Channel(std::move(socket));
    place->handshake.emplace(Handshake::Side::accepts, secret_, tcp_greeting(group_, self_));
    place->since = now;
    ++unauthenticated_;
    watch_.add(place->channel.fd(), tag(*place), true);
  }
}

std::optional<Acceptor::Peer> Acceptor::advance(std::uint32_t index) {
  if (index >= places_.size() || !places_[index].channel) return std::nullopt;
  Place& place = places_[index];
  switch (place.handshake->advance(place.channel)) {
    case Handshake::State::reading:
    case Handshake::State::writing:
      return std::nullopt;
    case Handshake::State::refused:
      // A peer that closes the connection may be a rank that connected at another address: no log.
      if (place.handshake->has_left()) {
        last_refusal_ = place.handshake->refusal();
        leave(place);
      } else {
        if (place.handshake->is_final()) ++final_refusals_;
        reject(place, std::string(place.handshake->refusal()));
      }
      return std::nullopt;
    case Handshake::State::done:
      break;
  }
  const std::string greeting = place.handshake->peer_greeting();
  const std::optional<std::uint32_t> rank = rank_that_greets(greeting, group_);
  if (!rank || *rank == self_ || *rank >= ranks_) {
    reject(place, "unexpected greeting \"" + greeting + "\"");
    return std::nullopt;
  }
  return Peer{.rank = *rank, .channel = leave(place)};
}

void Acceptor::close_late(Clock::time_point now) {
  if (unauthenticated_ == 0) return;
  for (Place& place : places_) {
    if (!place.channel || now < place.since + enough_time) continue;
    reject(place, "it did not finish the handshake in time");
  }
}

/// A place for the next connection: a free one, or that of a peer that may be evicted. Null if
/// there is none yet.
Acceptor::Place* Acceptor::next_place(Clock::time_point now) {
  const auto free = std::find_if(places_.begin(), places_.end(),
                                 [](const Place& place) { return !place.channel; });
  if (free != places_.end()) return &*free;
  if (places_.size() < spare_places + ranks_) return &places_.emplace_back();
  std::vector<Place*> by_age;
  for (Place& place : places_) by_age.push_back(&place);
  std::sort(by_age.begin(), by_age.end(),
            [](const Place* one, const Place* other) { return one->since < other->since; });
  const Eviction next =
      choose_eviction(by_age, [](const Place* place) -> const std::string& { return place->from; });
  Place& place = *by_age[next.index];
  const auto enough = next.from_there > 1 ? fair_time_in_crowd : fair_time;
  return now < place.since + enough ? nullptr : &place;
}

Watch::Tag Acceptor::tag(const Place& place) const {
  return {.kind = Watch::Kind::unauthenticated,
          .index = static_cast<std::uint32_t>(&place - places_.data())};
}

void Acceptor::reject(Place& place, const std::string& why) {
  last_refusal_ = why;
  log_.note_rejection(place.from, why, Clock::now());
  leave(place);
}

Channel Acceptor::leave(Place& place) {
  watch_.remove(place.channel.fd());
  place.handshake.reset();
  --unauthenticated_;
  return std::exchange(place.channel, Channel());
}

}  // namespace tutti
