#include "transport/tcp/reception.hpp"

#include <algorithm>

#include "transport/tcp/greeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A rank that knocks has already said who it is, and answers within a round trip.
constexpr auto enough_time = 10s;
/// When all places are taken, who has been here so long must make room.
constexpr auto fair_time = 1s;

}  // namespace

Reception::Reception(Socket listener, Watch& watch, const Secret& secret, std::string group,
                     Rank self)
    : listener_(std::move(listener)),
      watch_(watch),
      secret_(secret),
      group_(std::move(group)),
      self_(self),
      log_(self) {
  if (listener_) watch_.add(listener_.fd(), {.kind = Watch::Kind::listener, .index = 0}, false);
}

Reception::~Reception() {
  if (listener_) watch_.remove(listener_.fd());
  for (const Place& place : places_) {
    if (place.channel) watch_.remove(place.channel.fd());
  }
}

void Reception::open_door(Clock::time_point now) {
  if (!listener_) return;
  while (Place* const place = free_place(now)) {
    place->channel = Channel(accept_from(listener_));
    if (!place->channel) return;
    place->from = connected_to(place->channel.socket());
    place->handshake.emplace(Handshake::Side::accepts, secret_,
                             tcp_greeting(group_, self_.index()));
    place->late = now + enough_time;
    ++strangers_;
    watch_.add(place->channel.fd(), tag(*place), true);
  }
}

std::optional<Reception::Guest> Reception::advance(std::uint32_t index) {
  if (index >= places_.size() || !places_[index].channel) return std::nullopt;
  Place& place = places_[index];
  switch (place.handshake->advance(place.channel)) {
    case Handshake::State::reading:
    case Handshake::State::writing:
      return std::nullopt;
    case Handshake::State::refused:
      // Who leaves by himself may be a rank that found another way in.
      if (place.handshake->has_left()) {
        last_refusal_ = place.handshake->refusal();
        leave(place);
      } else {
        turn_away(place, std::string(place.handshake->refusal()));
      }
      return std::nullopt;
    case Handshake::State::done:
      break;
  }
  const std::string greeting = place.handshake->peer_greeting();
  const std::optional<std::uint32_t> rank = rank_that_greets(greeting, group_);
  if (!rank || *rank >= self_.index()) {
    turn_away(place, "somebody else called, who said \"" + greeting + "\"");
    return std::nullopt;
  }
  return Guest{.rank = *rank, .channel = leave(place)};
}

void Reception::close_late(Clock::time_point now) {
  if (strangers_ == 0) return;
  for (Place& place : places_) {
    if (!place.channel || now < place.late) continue;
    turn_away(place, "somebody called and did not say who");
  }
}

Reception::Place* Reception::free_place(Clock::time_point now) {
  const auto free = std::find_if(places_.begin(), places_.end(),
                                 [](const Place& place) { return !place.channel; });
  if (free != places_.end()) return &*free;
  if (places_.size() < most_strangers) return &places_.emplace_back();
  const auto oldest =
      std::min_element(places_.begin(), places_.end(),
                       [](const Place& one, const Place& other) { return one.late < other.late; });
  if (now < oldest->late - enough_time + fair_time) return nullptr;
  turn_away(*oldest, "too many have come and not said who they are");
  return &*oldest;
}

Watch::Tag Reception::tag(const Place& place) const {
  return {.kind = Watch::Kind::stranger,
          .index = static_cast<std::uint32_t>(&place - places_.data())};
}

void Reception::turn_away(Place& place, const std::string& why) {
  last_refusal_ = why;
  log_.turned_away(place.from.host(), why, Clock::now());
  leave(place);
}

Channel Reception::leave(Place& place) {
  watch_.remove(place.channel.fd());
  place.handshake.reset();
  --strangers_;
  return std::exchange(place.channel, Channel());
}

}  // namespace tutti
